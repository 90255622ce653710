// Two views share a texture; who is the last to close frees it.
//
// Wrong (double free): a view gives up its share, and then looks how many there are: both may see that there are none.
// Finding: double free, in either view.
// Preemptions: 1. With 0, one view sees that the other one is left, and only the other one frees. With 1: stop a view when it
// has given up its share, and let the other one close.
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
    users.fetch_sub(1);
    if (users.load() == 0) {
        delete icon; // FAILS HERE
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
