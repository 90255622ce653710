// Effects of calls on streams outside of these: one thread writes or reads, and the other one looks without a lock, or does the
// same. With -DTRY both lock.
// - COUNT: the number of characters that were read last, which an inline member returns;
// - POINTER: the call goes through a pointer to a function that is known as one of strings too;
// - TABLE: the call goes through the buffer's table of functions;
// - MEMORY: the stream has memory of the program's in the place of a file;
// - SIZE: the stream keeps the size of its text in a variable of the program's;
// - BACK: the standard output is led to a file, which the program reads back.
#include <cassert>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>

static std::mutex lock;

#if defined COUNT
static std::istringstream in("abcd");
static char into[4];
static void prepare() {}
static void one() { in.read(into, 3), in.get(); }
static void other() { assert(in.gcount() != 3); }
#elif defined POINTER
static FILE *stream;
static char *text;
static size_t size;
static int (*volatile put)(const char *, FILE *) = fputs;
static void prepare() { stream = open_memstream(&text, &size); }
static void one() { put("a", stream), put("a", stream); }
static void other() { put("b", stream); }
#elif defined TABLE
static std::stringbuf buffer;
static void prepare() {}
static void one() { buffer.sputn("a", 1), buffer.sputn("a", 1); }
static void other() { buffer.sputn("b", 1); }
#elif defined MEMORY
static FILE *stream;
static volatile char text[16];
static void prepare() { stream = fmemopen(const_cast<char *>(text), sizeof text, "w"); }
static void one() { fputs("ab", stream), fflush(stream), fputs("cd", stream), fflush(stream); }
static void other() { assert((text[0] == 'a') == (text[3] == 'd')); }
#elif defined SIZE
static FILE *stream;
static char *text;
static size_t size;
static void prepare() { stream = open_memstream(&text, &size); }
static void one() { fputs("ab", stream), fflush(stream), fputs("cd", stream), fflush(stream); }
static void other() { assert(*const_cast<volatile size_t *>(&size) != 2); }
#elif defined BACK
static void prepare() { assert(freopen("printed", "w", stdout)); }
static void one() { printf("a"), fflush(stdout), printf("a"), fflush(stdout); }
static void other() { printf("b"), fflush(stdout); }
#endif

static void run(void (*action)()) {
#ifdef TRY
    std::lock_guard<std::mutex> guard(lock);
#endif
    action();
}

static void check() {
#if defined POINTER
    fclose(stream);
    assert(strcmp(text, "aba") != 0);
#elif defined TABLE
    assert(buffer.str() != "aba");
#elif defined BACK
    char printed[8] = "";
    FILE *back = fopen("printed", "r");
    assert(back && fgets(printed, sizeof printed, back));
    fclose(back);
    assert(strcmp(printed, "aba") != 0);
#endif
}

int main() {
    prepare();
    std::thread first(run, one), second(run, other);
    first.join();
    second.join();
    check();
    return 0;
}
