// Lambdas that threads run, without debug information: an optimiser makes them part of functions below `std`.
#include <cassert>
#include <memory>
#include <thread>

int main()
{
    static volatile int number;
    std::thread first([] { number = number + 1; });
    std::thread second([] { number = number + 1; });
    first.join();
    second.join();
    assert(number == 2);

    static volatile int freed;
    auto shared = std::shared_ptr<int>(new int(1), [](int *pointer) {
        freed = freed + 1;
        delete pointer;
    });
    std::thread last([shared = std::move(shared)]() mutable { shared.reset(); });
    last.join();
    assert(freed == 1);
    return 0;
}
