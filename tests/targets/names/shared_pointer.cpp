// Two threads count what is behind a shared pointer, each in a line of its own.
#include <cassert>
#include <memory>
#include <thread>

namespace shop {

struct Stats {
    int orders = 0;
    int parcels = 0;
};

} // namespace shop

int main()
{
    auto stats = std::make_shared<shop::Stats>();
    auto first = std::make_unique<int>(1);
    std::thread packer([stats, &first] { stats->parcels += *first; });
    std::thread helper([stats] {
        stats->parcels++; // LOST HERE
    });
    packer.join();
    helper.join();
    assert(stats->parcels == 2);
}
