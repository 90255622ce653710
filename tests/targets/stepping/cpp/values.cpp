// Variables of the C++ library at a failing line. One preemption between load and store loses an addition.

#include <atomic>
#include <cassert>
#include <memory>
#include <string>
#include <thread>
#include <vector>

int main()
{
    std::string name = "a name that is too long to be kept inside";
    std::vector<int> numbers{1, 2, 3};
    auto shared = std::make_shared<int>(41);
    std::atomic<int> counter{0};
    auto add = [&counter] { counter.store(counter.load() + 1); };
    std::thread first(add);
    std::thread second(add);
    first.join();
    second.join();
    assert(counter == 2 && name.size() + numbers.size() + *shared); // FAILS HERE
}
