// The same steps as in `../lines.c`, with threads of the C++ library.

#include <cassert>
#include <thread>

static int shared;
static int results[2];

static __attribute__((noinline)) int twice(int value)
{
    int doubled = value + value; // in twice
    return doubled; // out of twice
} // end of twice

static void worker(int *result)
{
    int local = 1; // begin
    for (int i = 0; i < 2; i++) // loop
        local = local * 10 + i; // body
    int seen = shared; // read
    local = twice(local); // call
    shared = seen + 1; // write
    *result = local; // keep
} // end of worker

int main()
{
    std::thread first(worker, &results[0]); // create first
    std::thread second(worker, &results[1]); // create second
    first.join(); // join first
    second.join(); // join second
    assert(shared == 2); // FAILS HERE
}
