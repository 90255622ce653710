// Tasks that threads of a library run, oneTBB's: the parallel algorithms of the standard library are made of them. Without -DTRY, the
// program takes it that the thread that waits for them runs all of them. With -DQUEUE, the library has a container alone.
#include <atomic>
#include <cassert>
#include <execution>
#include <thread>
#include <vector>
#include <tbb/concurrent_queue.h>
#include <tbb/global_control.h>

#ifdef QUEUE
int main() {
    tbb::concurrent_queue<int> numbers;
    std::thread producer([&] {
        numbers.push(1);
        numbers.push(2);
    });
    int first = 0;
    const bool was_there = numbers.try_pop(first);
    producer.join();
#ifdef TRY
    assert(!was_there || first == 1);
#else
    assert(was_there);
#endif
}
#else
int main() {
    tbb::global_control two(tbb::global_control::max_allowed_parallelism, 2);
    std::vector<int> numbers{1, 2, 3, 4};
    std::atomic<int> sum = 0, elsewhere = 0;
    const auto here = std::this_thread::get_id();
    std::for_each(std::execution::par, numbers.begin(), numbers.end(), [&](int number) {
        sum += number;
        elsewhere += std::this_thread::get_id() != here;
    });
    assert(sum == 10);
#ifndef TRY
    assert(elsewhere == 0);
#endif
}
#endif
