// Two threads take memory of one buffer, which has no lock. The function that gives it is one of the C++ library's, and is called
// through the buffer alone: the program has no symbol of it. The library keeps the other class's table to itself (-DPOOL).
#include <cassert>
#include <memory_resource>
#include <thread>

#ifdef POOL
static std::pmr::unsynchronized_pool_resource memory;
#else
static char room[4096];
static std::pmr::monotonic_buffer_resource memory{room, sizeof room};
#endif

int main()
{
    // Which class it is of is not known to the compiler.
    std::pmr::memory_resource *volatile chosen = &memory;
    std::pmr::memory_resource &resource = *chosen;
    resource.deallocate(resource.allocate(64), 64);
    void *first = nullptr;
    std::thread thread([&] { first = resource.allocate(64); });
    void *second = resource.allocate(64);
    thread.join();
    assert(first != second);
}
