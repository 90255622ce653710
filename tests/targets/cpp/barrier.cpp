// A simulation of two halves that wait for each other at the end of a step; main cancels it.
//
// Wrong (barrier misuse): a half that is cancelled leaves without telling the barrier, which goes on waiting for it.
// Finding: deadlock, one half in the barrier and main in its join.
// Preemptions: 1. With 0, main cancels before a half has begun, and both leave. With 1: stop main before it cancels, and let
// one half go to the barrier; now main cancels, and the other half leaves.
#include <atomic>
#include <barrier>
#include <thread>

namespace {

std::barrier<> step_is_done{2};
std::atomic<bool> cancelled{false};
std::atomic<int> halves_done{0};

void simulate_step()
{
    if (cancelled)
        return;
    step_is_done.arrive_and_wait(); // FAILS HERE
    ++halves_done;
}

} // namespace

int main()
{
    std::thread left(simulate_step);
    std::thread right(simulate_step);
    cancelled = true;
    left.join(); // FAILS HERE
    right.join();
    return halves_done <= 2 ? 0 : 1;
}
