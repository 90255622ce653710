// Two threads swap the colours of two shapes, each shape with a mutex of its own.
//
// Right: `std::scoped_lock` takes both mutexes without a deadlock: it tries the second one, and gives the first one back
// if it cannot have it.
#include <mutex>
#include <thread>
#include <utility>

namespace {

struct Shape {
    std::mutex mutex;
    int colour = 0;
};

Shape circle;
Shape square;

void swap_colours(Shape &one, Shape &other)
{
    std::scoped_lock both(one.mutex, other.mutex);
    std::swap(one.colour, other.colour);
}

} // namespace

int main()
{
    circle.colour = 1;
    square.colour = 2;
    std::thread there([] { swap_colours(circle, square); });
    std::thread back([] { swap_colours(square, circle); });
    there.join();
    back.join();
    return circle.colour == 1 && square.colour == 2 ? 0 : 1;
}
