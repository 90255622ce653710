// A block that was allocated before main is freed by one thread while another one uses it: -DCONSTRUCTOR, -DVECTOR, -DSTRING, or the
// initial value of a variable. With -DTRY both do so under a lock, and nobody uses what is gone.
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::mutex lock;
static volatile int seen;

#if defined CONSTRUCTOR
static int *block;
__attribute__((constructor)) static void allocate() { block = static_cast<int *>(calloc(8, sizeof *block)); }
static void give_up() { free(block); block = nullptr; }
static void look() { if (int *it = block) seen = it[3]; }
#elif defined VECTOR
static std::vector<int> numbers{1, 2, 3};
static void give_up() { numbers.push_back(4); }
static void look() { seen = numbers[2]; }
#elif defined STRING
static std::string text("longer than what an object has room for");
static void give_up() { text.append(text); }
static void look() { seen = text[20]; }
#else
static int *block = new int(5);
static void give_up() { delete block; block = nullptr; }
static void look() { if (int *it = block) seen = *it; }
#endif

static void safely(void (*action)()) {
#ifdef TRY
    std::lock_guard<std::mutex> guard(lock);
#endif
    action();
}

int main() {
    std::thread one([] { safely(give_up); }), other([] { safely(look); });
    one.join();
    other.join();
    return 0;
}
