// A promise is kept where its thread ends, by the C++ library: a future is ready or not, as that has come about.
#include <cassert>
#include <chrono>
#include <future>
#include <thread>

int main()
{
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread thread([&] { promise.set_value_at_thread_exit(1); });
    bool is_ready = future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    assert(!is_ready);
    thread.join();
}
