// Two views share a texture; who is the last to close frees it.
//
// Right: to give up a share and to see how many there were is one indivisible step.
#include <array>
#include <atomic>
#include <thread>

struct texture {
    std::array<int, 4> pixels;
};

static std::atomic<int> users{2};
static std::atomic<int> textures_freed{0};
static texture *icon;

static texture *load_icon()
{
    return new texture{};
}

static void close_view()
{
    if (users.fetch_sub(1) == 1) {
        delete icon;
        textures_freed.fetch_add(1);
    }
}

int main()
{
    icon = load_icon();
    std::thread first(close_view);
    std::thread second(close_view);
    first.join();
    second.join();
    return textures_freed.load() == 1 ? 0 : 1;
}
