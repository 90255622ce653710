// Threads hand results over, which the last one that needs them destroys; with an argument, an exception is one of the results.
#include <cassert>
#include <exception>
#include <future>
#include <stdexcept>
#include <thread>

int main(int count, char **)
{
    auto first = std::async(std::launch::async, [] { return 1; });
    std::promise<int> promise;
    auto second = promise.get_future();
    std::thread thread([promise = std::move(promise), count]() mutable {
        if (count > 1)
            promise.set_exception(std::make_exception_ptr(std::runtime_error("no result")));
        else
            promise.set_value(2);
    });
    int sum = first.get();
    try {
        sum += second.get();
    } catch (const std::runtime_error &) {
        sum += 2;
    }
    assert(sum == 3);
    thread.join();
    return 0;
}
