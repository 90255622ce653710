// Two threads own a number, and each looks at what the other one says when it has given it back. The last owner writes the counts by plain
// stores, which no other thread comes upon.
#include <atomic>
#include <memory>
#include <thread>

static std::atomic<bool> has_looked;

int main()
{
    auto number = std::make_shared<int>(1);
    std::thread other([mine = number]() mutable {
        mine.reset();
        if (!has_looked.load())
            has_looked.store(true);
    });
    number.reset();
    has_looked.load();
    other.join();
    return 0;
}
