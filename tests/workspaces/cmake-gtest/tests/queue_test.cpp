#include "queue.h"

#include <cstdlib>
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

// Fails where both threads look before either pushes.
TEST(Limits, AreKept)
{
    Queue queue(1);
    std::thread other([&] { queue.push(1); });
    queue.push(2);
    other.join();
    EXPECT_LE(queue.size(), 1u);
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
