// Two threads write to one stream of strings, and what comes out depends on nothing but the order of the locks:
// - with -DTRY, both always lock;
// - with -DORDER, the assertion wants them in one order;
// - with -DHALF=true, one of them does not lock;
// - with -DHALF=false -DMIDST, none locks, and the stream's own buffer locks in the midst of each call, which puts a part of it in order;
// - with -DKEPT, one looks at the text after it has unlocked.
#include <cassert>
#include <mutex>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <string>
#include <string_view>
#include <thread>

#if defined TRY || defined ORDER
#define FIRST_LOCKS true
#define SECOND_LOCKS true
#else
#define FIRST_LOCKS false
#define SECOND_LOCKS HALF
#endif

static std::mutex lock;

#if defined MIDST
class Locked : public std::streambuf {
    std::mutex own;
    std::string text;
    int overflow(int next) override {
        std::lock_guard<std::mutex> guard(own);
        text.push_back(static_cast<char>(next));
        return next;
    }

public:
    std::string str() const { return text; }
};
static Locked buffer;
static std::ostream out(&buffer);
static std::string text() { return buffer.str(); }
#else
static std::ostringstream out;
static std::string text() { return out.str(); }
#endif

static void write_word(const char *word, bool locks) {
    if (locks) lock.lock();
    out << word;
    if (locks) lock.unlock();
}

#if defined KEPT
static void overwrite() {
    std::lock_guard<std::mutex> guard(lock);
    out.seekp(0);
    out << "bb";
}

static void look() {
    lock.lock();
    volatile const char *kept = std::string_view(out.view()).data();
    lock.unlock();
    char first = kept[0];
    assert(first == kept[1]);
}
#endif

int main() {
#if defined KEPT
    out << "aa";
    std::thread one(overwrite), other(look);
#else
    std::thread one(write_word, "a", FIRST_LOCKS), other(write_word, "b", SECOND_LOCKS);
#endif
    one.join();
    other.join();
#if defined ORDER
    assert(text() == "ab");
#else
    assert(text().size() == 2);
#endif
    return 0;
}
