// A bounded queue of orders: main puts two, a baker and a butcher take one each.
//
// Right: both waits test their condition again after they have woken up, with the mutex held.
#include <array>
#include <cassert>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

namespace {

class BoundedQueue {
public:
    void put(int item)
    {
        std::unique_lock<std::mutex> guard(mutex_);
        while (count_ == items_.size())
            not_full_.wait(guard);
        items_[count_++] = item;
        not_empty_.notify_one();
    }

    int take()
    {
        std::unique_lock<std::mutex> guard(mutex_);
        while (count_ == 0)
            not_empty_.wait(guard);
        assert(count_ > 0);
        int item = items_[--count_];
        not_full_.notify_one();
        return item;
    }

private:
    std::mutex mutex_;
    std::condition_variable not_empty_;
    std::condition_variable not_full_;
    std::array<int, 1> items_{};
    std::size_t count_ = 0;
};

BoundedQueue orders;

} // namespace

int main()
{
    int first = 0, second = 0;
    std::thread baker([&first] { first = orders.take(); });
    std::thread butcher([&second] { second = orders.take(); });
    orders.put(1);
    orders.put(2);
    baker.join();
    butcher.join();
    return first + second == 3 ? 0 : 1;
}
