// Stock of an article that a shop and a website sell from.
//
// Wrong (lost update): `in_stock = in_stock - 1` is an atomic load and an atomic store, but not one atomic operation.
// Finding: assertion, in main.
// Preemptions: 1. With 0, each seller loads and stores back to back. With 1: stop the first seller between its load and
// its store, and let the other one run to its end.
#include <atomic>
#include <cassert>
#include <thread>

namespace {

std::atomic<int> in_stock{10};

void sell_one()
{
    in_stock = in_stock - 1;
}

} // namespace

int main()
{
    std::thread shop(sell_one);
    std::thread website(sell_one);
    shop.join();
    website.join();
    assert(in_stock == 8); // FAILS HERE
}
