// A bounded queue of orders: main puts two, a baker and a butcher take one each.
//
// Wrong: `take` tests for the empty queue with `if` where it needs `while`. Between the notification and the moment at
// which the woken thread has the mutex again, the other one can take the order.
// Finding: assertion, in `take`.
// Preemptions: 1. With 0, main puts its first order before anybody else runs, then blocks on the full queue; who waits
// later is woken for an order that nobody else is there to take. With 1: stop main before it puts, let the baker wait; main
// puts an order, which wakes the baker, and blocks; the butcher takes the order, and the baker finds nothing.
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
        if (count_ == 0)
            not_empty_.wait(guard);
        assert(count_ > 0); // FAILS HERE
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
