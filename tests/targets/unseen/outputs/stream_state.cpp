// A thread prints, and another one looks at the state of the stream, by code of its own or by a function. With -DTRY both do so under a lock, and
// nothing fails.
// - POINTER: the place in the buffer of a stream of the C library; PENDING, ERROR: what functions tell of it;
// - WIDTH: the width of the next number, which is set before, and which printing resets; GOOD: whether printing has failed;
// - INPUT: two libraries read one input.
#include <cassert>
#include <cstdio>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <stdio_ext.h>
#include <thread>
#include <unistd.h>

static std::mutex lock;
static bool is_seen;

#if defined POINTER
static char *before;
static void prepare() {
    printf("x");
    before = stdout->_IO_write_ptr;
}
static void print() { printf("ab"); }
static void look() { is_seen = static_cast<volatile FILE *>(stdout)->_IO_write_ptr != before; }
#elif defined PENDING
static void prepare() { printf("x"); }
static void print() { printf("ab"); }
static void look() { is_seen = __fpending(stdout) != 1; }
#elif defined ERROR
static void prepare() { close(STDOUT_FILENO); }
static void print() { printf("ab"), fflush(stdout); }
static void look() { is_seen = ferror_unlocked(stdout); }
#elif defined WIDTH
static void prepare() { std::cout.width(5); }
static void print() { std::cout << 1; }
static void look() { is_seen = std::cout.width() != 5; }
#elif defined GOOD
static void prepare() { close(STDOUT_FILENO); }
static void print() { std::cout << 1 << std::flush; }
static void look() { is_seen = !std::cout.good(); }
#elif defined INPUT
static int first_read;
static void prepare() {}
static void print() { first_read = std::cin.get(); }
static void look() { is_seen = getchar() != 'b'; }
#endif

static void run(void (*action)()) {
#ifdef TRY
    std::lock_guard<std::mutex> guard(lock);
#endif
    action();
}

int main() {
    prepare();
    std::thread first(run, print), second(run, look);
    first.join();
    second.join();
#ifndef TRY
    assert(!is_seen);
#endif
    return 0;
}
