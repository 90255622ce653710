// A thread prints to a stream that has memory of the program's as its buffer, and another one looks there, or writes there. With -DTRY each does so
// under a lock; with -DAPART the other one looks at memory of its own.
// - PRINTF, a stream of the C library; CERR, one of the C++ library that uses that; FILE_OUT, a file's;
// - PRINTED: two threads print, and what the buffer has in the end tells who was first.
#include <cassert>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <mutex>
#include <thread>

static char buffer[4096];
static char other[4096];
static std::mutex lock;

#if defined PRINTF || defined PRINTED
static void prepare() { setvbuf(stdout, buffer, _IOFBF, sizeof buffer); }
static void print() { printf("ab"); }
#elif defined CERR
static void prepare() { setvbuf(stderr, buffer, _IOFBF, sizeof buffer); }
static void print() { std::cerr << "ab"; }
#elif defined FILE_OUT
static std::ofstream out;
static void prepare() {
    out.rdbuf()->pubsetbuf(buffer, sizeof buffer);
    out.open("/dev/null");
}
static void print() { out << "ab"; }
#endif

static void run(void (*action)()) {
#if defined TRY
    std::lock_guard<std::mutex> guard(lock);
#endif
    action();
}

static void look() {
    volatile const char *seen = buffer;
#if defined APART
    seen = other;
#endif
    char first = seen[0];
#if defined TRY
    assert(first == 0 || seen[1] == 'b');
#else
    assert(first == 0);
#endif
}

static void print_other() { printf("xy"); }

int main() {
    prepare();
#if defined PRINTED
    std::thread first(run, print), second(run, print_other);
#else
    std::thread first(run, print), second(run, look);
#endif
    first.join();
    second.join();
#if defined PRINTED && defined TRY
    assert(buffer[0] != 0);
#elif defined PRINTED && !defined APART
    assert(buffer[0] == 'a');
#endif
    return 0;
}
