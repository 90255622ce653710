// A variable that the first call of a function initialises: whoever comes later finds that in the variable's guard, and makes no call.
#include <cassert>
#include <thread>

static int make() { return 7; }

static int &only() {
    static int value = make();
    return value;
}

int main() {
    std::thread first([] { assert(only() == 7); });
    std::thread second([] { assert(only() == 7); });
    first.join();
    second.join();
}
