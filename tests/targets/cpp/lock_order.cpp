// Two threads swap the colours of two shapes, each shape with a mutex of its own.
//
// Wrong (lock order): each call locks its first argument first, and the threads pass the shapes in different order.
// Finding: deadlock, both threads in `swap_colours` and main in its join.
// Preemptions: 1. With 0, a swap takes both mutexes back to back. With 1: stop the first swap between its two mutexes, and
// let the other one run until it blocks.
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
    std::lock_guard<std::mutex> first(one.mutex);
    std::lock_guard<std::mutex> second(other.mutex); // FAILS HERE
    std::swap(one.colour, other.colour);
}

} // namespace

int main()
{
    circle.colour = 1;
    square.colour = 2;
    std::thread there([] { swap_colours(circle, square); });
    std::thread back([] { swap_colours(square, circle); });
    there.join(); // FAILS HERE
    back.join();
    return circle.colour == 1 && square.colour == 2 ? 0 : 1;
}
