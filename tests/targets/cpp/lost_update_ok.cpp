// Stock of an article that a shop and a website sell from.
//
// Right: `in_stock--` of an atomic is one indivisible operation.
#include <atomic>
#include <cassert>
#include <thread>

namespace {

std::atomic<int> in_stock{10};

void sell_one()
{
    in_stock--;
}

} // namespace

int main()
{
    std::thread shop(sell_one);
    std::thread website(sell_one);
    shop.join();
    website.join();
    assert(in_stock == 8);
}
