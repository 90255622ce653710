// A cook rings a bell when the meal is ready, a waiter sleeps until it rings.
//
// Wrong (lost wake-up): the waiter waits for the bell and not for the meal. A bell that rings before he listens is not
// remembered.
// Finding: deadlock, the waiter in his wait and main in its join.
// Preemptions: 0. When both threads are there, the cook may run first, to his end; then the waiter waits for ever.
#include <condition_variable>
#include <mutex>
#include <thread>

namespace {

std::mutex kitchen;
std::condition_variable bell;

void cook()
{
    std::lock_guard<std::mutex> guard(kitchen);
    bell.notify_one();
}

void wait_at_table()
{
    std::unique_lock<std::mutex> guard(kitchen);
    bell.wait(guard); // FAILS HERE
}

} // namespace

int main()
{
    std::thread waiter(wait_at_table);
    std::thread chef(cook);
    waiter.join(); // FAILS HERE
    chef.join();
}
