// A test with parameters: gtest generates functions into this file, and runs them before the test. One preemption between the
// load and the store loses an addition.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

class Counter : public testing::TestWithParam<int> {};

TEST_P(Counter, Counts)
{
    std::atomic<int> counter{GetParam()}; // FIRST LINE
    auto add = [&] { counter.store(counter.load() + 1); };
    std::thread other(add);
    add();
    other.join();
    EXPECT_EQ(counter.load(), GetParam() + 2); // FAILS HERE
}

INSTANTIATE_TEST_SUITE_P(Once, Counter, testing::Values(0));
