// A logger that is set up when it is first used, by whoever uses it first.
//
// Right: `std::call_once` lets one thread set the logger up and makes the other one wait until it is done.
#include <atomic>
#include <mutex>
#include <thread>

namespace {

const int default_level = 3;

std::once_flag once;
const int *level = nullptr;
std::atomic<int> lines{0};

void log()
{
    std::call_once(once, [] { level = &default_level; });
    if (*level > 0)
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
