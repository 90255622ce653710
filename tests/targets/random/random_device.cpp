// Two threads draw from std::random_device, which asks the processor or the kernel.

#include <cstdio>
#include <random>
#include <thread>

int main()
{
    unsigned here[2] = {}, there[2] = {};
    auto draw = [](unsigned(&numbers)[2]) {
        std::random_device device;
        for (unsigned &number : numbers)
            number = device();
    };
    std::thread other([&] { draw(there); });
    draw(here);
    other.join();
    std::printf("%08x\n%08x\n%08x\n%08x\n", here[0], here[1], there[0], there[1]);
}
