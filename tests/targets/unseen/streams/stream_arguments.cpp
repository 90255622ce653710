// Streams of the C++ library read and write more than themselves: -DNUMBER, -DCHARACTER, -DBYTES and -DSTRING are read into memory that
// another thread looks at twice, and without one of these, text is written of which another thread changes two characters. With -DTRY
// both do so under a lock.
#include <cassert>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

static std::mutex lock;

#if defined NUMBER
static volatile int shared;
static void use() { std::istringstream("7") >> const_cast<int &>(shared); }
static bool is_right() { int first = shared; return first == shared; }
#elif defined CHARACTER
static volatile char shared;
static void use() { std::istringstream("7").get(const_cast<char &>(shared)); }
static bool is_right() { char first = shared; return first == shared; }
#elif defined BYTES
static volatile char shared[8];
static void use() { std::istringstream("7654321").read(const_cast<char *>(shared), 7); }
static bool is_right() { char first = shared[3]; return first == shared[3]; }
#elif defined STRING
static std::string shared("abc");
static void use() { std::istringstream("xyz") >> shared; }
static bool is_right() {
    const volatile char *text = shared.data();
    char first = text[1];
    return first == text[1];
}
#else
static std::string shared("ab");
static void use() { shared[0] = 'x', shared[1] = 'y'; }
static bool is_right() {
    std::ostringstream out;
    out << shared;
    return out.str() == "ab" || out.str() == "xy";
}
#endif

static void safely(void (*action)()) {
#ifdef TRY
    std::lock_guard<std::mutex> guard(lock);
#endif
    action();
}

int main() {
    std::thread one([] { safely(use); });
    std::thread other([] { safely([] { assert(is_right()); }); });
    one.join();
    other.join();
    return 0;
}
