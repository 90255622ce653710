// Two threads name two mutexes in opposite orders, and leave it to the library to take both: it waits for one at a time.

#include <mutex>
#include <thread>

static std::mutex left;
static std::mutex right;
static int moved;

static void move(std::mutex &one, std::mutex &other, int by)
{
    std::scoped_lock both(one, other);
    moved += by;
}

int main()
{
    std::thread forth([] { move(left, right, 1); });
    std::thread back([] { move(right, left, -1); });
    forth.join();
    back.join();
    return moved;
}
