// A simulation of two halves that wait for each other at the end of a step; main cancels it.
//
// Right: a half that is cancelled drops out of the barrier, which ends the step of the one that waits.
#include <atomic>
#include <barrier>
#include <thread>

namespace {

std::barrier<> step_is_done{2};
std::atomic<bool> cancelled{false};
std::atomic<int> halves_done{0};

void simulate_step()
{
    if (cancelled) {
        step_is_done.arrive_and_drop();
        return;
    }
    step_is_done.arrive_and_wait();
    ++halves_done;
}

} // namespace

int main()
{
    std::thread left(simulate_step);
    std::thread right(simulate_step);
    cancelled = true;
    left.join();
    right.join();
    return halves_done <= 2 ? 0 : 1;
}
