// Three threads that sleep for 0.2, 0.4 and 0.6 s take their turns in this order: no lock says so, their clocks do.
#include <cassert>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

int main()
{
    std::mutex mutex;
    std::vector<int> order;
    std::vector<std::thread> threads;

    for (int number : {3, 1, 2})
        threads.emplace_back([&, number] {
            std::this_thread::sleep_for(number * std::chrono::milliseconds(200));
            std::lock_guard<std::mutex> guard(mutex);
            order.push_back(number);
        });
    for (auto &thread : threads)
        thread.join();
    assert((order == std::vector<int>{1, 2, 3}));
    return 0;
}
