// Two threads take locks in opposite orders, in functions of a namespace that a test framework has as well.

#include <mutex>
#include <thread>

namespace testing {

static std::mutex first, second;

struct Pool {
    [[gnu::noinline]] static void fill()
    {
        std::lock_guard<std::mutex> outer(first);
        std::lock_guard<std::mutex> inner(second);
    }

    [[gnu::noinline]] static void drain()
    {
        std::lock_guard<std::mutex> outer(second);
        std::lock_guard<std::mutex> inner(first);
    }
};

} // namespace testing

int main()
{
    std::thread other(testing::Pool::fill);
    testing::Pool::drain();
    other.join();
    return 0;
}
