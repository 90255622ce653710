// Four threads count together, correctly. Their interleavings are too many for any budget.
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

constexpr int THREADS = 4;
constexpr int ROUNDS = 25;

TEST(Crowd, IsCounted)
{
    std::atomic<int> counted{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back([&] {
            for (int round = 0; round < ROUNDS; round++)
                counted.fetch_add(1);
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(counted.load(), THREADS * ROUNDS);
}

} // namespace
