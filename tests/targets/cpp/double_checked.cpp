// A logger that is set up when it is first used, by whoever uses it first.
//
// Wrong (double-checked initialisation): the flag says that the logger is ready before its level is set.
// Finding: crash (null pointer), in `log`.
// Preemptions: 1. With 0, the thread that sets the logger up finishes before another one runs. With 1: stop it between the
// flag and the level, and let the other thread go past the check.
// Optimisation: no compiler moves the plain store in front of the atomic one here.
#include <atomic>
#include <mutex>
#include <thread>

namespace {

const int default_level = 3;

std::mutex setup_mutex;
std::atomic<bool> is_ready{false};
const int *level = nullptr;
std::atomic<int> lines{0};

void set_up()
{
    if (is_ready)
        return;
    std::lock_guard<std::mutex> guard(setup_mutex);
    if (!is_ready) {
        is_ready = true;
        level = &default_level;
    }
}

void log()
{
    set_up();
    if (*level > 0) // FAILS HERE
        ++lines;
}

} // namespace

int main()
{
    std::thread network(log);
    std::thread storage(log);
    network.join();
    storage.join();
    return lines == 2 ? 0 : 1;
}
