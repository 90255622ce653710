// A simulation of two halves that wait for each other after every step; main cancels it.
//
// Right: a half that is cancelled drops out of the barrier, which ends the step of the one that waits.
#include <atomic>
#include <barrier>
#include <thread>

namespace {

constexpr int steps = 2;

std::barrier<> step_is_done{2};
std::atomic<bool> cancelled{false};
std::atomic<int> work_done{0};

void simulate()
{
    for (int step = 0; step < steps; ++step) {
        if (cancelled) {
            step_is_done.arrive_and_drop();
            return;
        }
        ++work_done;
        step_is_done.arrive_and_wait();
    }
}

} // namespace

int main()
{
    std::thread left(simulate);
    std::thread right(simulate);
    cancelled = true;
    left.join();
    right.join();
    return work_done <= 2 * steps ? 0 : 1;
}
