// A customer spins on a flag until a parcel is there; main brings it.
//
// Right: main raises the flag when the parcel is there, and the flag is stored with release and loaded with acquire.
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
        std::abort();
}

} // namespace

int main()
{
    std::thread customer(wait_for_parcel);
    parcel.store(7, std::memory_order_relaxed);
    has_arrived.store(true, std::memory_order_release);
    customer.join();
}
