#include "queue.h"

#include <cstdlib>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

namespace {

// The limit that the build's test configuration sets.
std::size_t limit()
{
    const char *text = std::getenv("QUEUE_LIMIT");
    return text ? std::strtoul(text, nullptr, 10) : 0;
}

TEST(Environment, IsThatOfTheTestConfiguration)
{
    std::size_t seen = 0;
    std::thread reader([&] { seen = limit(); });
    reader.join();
    EXPECT_EQ(seen, 8u);
}

// One byte more in the file that is asked for, if there is one.
void count_execution()
{
    if (const char *path = std::getenv("COUNT_EXECUTIONS"))
        std::ofstream(path, std::ios::app) << '.';
}

// Pushes two jobs, and says how many were taken.
int fill(Queue &queue)
{
    int taken = 0;
    for (int job = 0; job < 2; job++)
        taken += queue.push(job) ? 1 : 0;
    return taken;
}

// Fails where both threads look before either pushes.
TEST(Limits, AreKept)
{
    count_execution();
    Queue queue(3);
    std::thread other([&] { fill(queue); });
    fill(queue);
    other.join();
    EXPECT_LE(queue.size(), 3u);
}

class Filled : public ::testing::Test {
protected:
    void SetUp() override { queue_.push(1); }

    Queue queue_{3};
};

TEST_F(Filled, TakesTwoMore)
{
    std::thread other([&] { queue_.push(2); });
    queue_.push(3);
    other.join();
    EXPECT_EQ(queue_.size(), 3u);
}

class Sizes : public ::testing::TestWithParam<int> {};

TEST_P(Sizes, AreReached)
{
    Queue queue(2);
    std::thread other([&] { queue.push(GetParam()); });
    other.join();
    EXPECT_EQ(queue.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Small, Sizes, ::testing::Values(1, 2));

template <typename Number>
class Typed : public ::testing::Test {};

using Numbers = ::testing::Types<int, long>;
TYPED_TEST_SUITE(Typed, Numbers);

TYPED_TEST(Typed, Counts)
{
    TypeParam sum = 0;
    std::thread adder([&] { sum += 1; });
    adder.join();
    EXPECT_EQ(sum, TypeParam(1));
}

// Needs no threads.
TEST(Empty, HasNoJobs)
{
    EXPECT_EQ(Queue(1).size(), 0u);
}

} // namespace
