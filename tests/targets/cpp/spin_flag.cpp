// A customer spins on a flag until a parcel is there; main brings it.
//
// Wrong (spin flag): main raises the flag before it puts the parcel down.
// Finding: assertion (abort), in `wait_for_parcel`.
// Preemptions: 1. With 0, main does both before the customer runs. With 1: stop main between the two, and let the customer
// run. Leaving a customer who spins is free.
// Optimisation: relaxed atomics are plain instructions that no compiler merges.
#include <atomic>
#include <cstdlib>
#include <thread>

namespace {

std::atomic<bool> has_arrived{false};
std::atomic<int> parcel{0};

void wait_for_parcel()
{
    while (!has_arrived.load(std::memory_order_acquire))
        std::this_thread::yield();
    if (parcel.load(std::memory_order_relaxed) != 7)
        std::abort(); // FAILS HERE
}

} // namespace

int main()
{
    std::thread customer(wait_for_parcel);
    has_arrived.store(true, std::memory_order_release);
    parcel.store(7, std::memory_order_relaxed);
    customer.join();
}
