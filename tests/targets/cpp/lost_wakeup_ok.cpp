// A cook rings a bell when the meal is ready, a waiter sleeps until it rings.
//
// Right: the waiter waits for the meal, which is remembered; it is set and looked at with the mutex held.
#include <condition_variable>
#include <mutex>
#include <thread>

namespace {

std::mutex kitchen;
std::condition_variable bell;
bool meal_is_ready = false;

void cook()
{
    std::lock_guard<std::mutex> guard(kitchen);
    meal_is_ready = true;
    bell.notify_one();
}

void wait_at_table()
{
    std::unique_lock<std::mutex> guard(kitchen);
    bell.wait(guard, [] { return meal_is_ready; });
}

} // namespace

int main()
{
    std::thread waiter(wait_at_table);
    std::thread chef(cook);
    waiter.join();
    chef.join();
}
