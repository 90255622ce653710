// Names with underscores, disabled tests, and every macro that makes a test.
#include <thread>

#include <gtest/gtest.h>

static int in_a_thread(int value)
{
    int result = 0;
    std::thread other([&] { result = value; });
    other.join();
    return result;
}

TEST(Plain, Adds)
{
    EXPECT_EQ(in_a_thread(1), 1);
}

// Without the text nobody could tell these two apart.
TEST(With_Underscores, In_Names) { EXPECT_EQ(in_a_thread(2), 2); }
TEST(With, Underscores_Too) { EXPECT_EQ(in_a_thread(2), 2); }

TEST(Plain, DISABLED_Adds)
{
    EXPECT_EQ(in_a_thread(3), 3);
}

namespace outer { namespace inner {
class Fixture : public ::testing::Test {
protected:
    int value_ = 4;
};

TEST_F(Fixture, IsUsed)
{
    EXPECT_EQ(in_a_thread(value_), 4);
}
} }

class Values : public ::testing::TestWithParam<int> {};

TEST_P(Values, AreTaken)
{
    EXPECT_EQ(in_a_thread(GetParam()), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Few, Values, ::testing::Values(5, 6));
INSTANTIATE_TEST_SUITE_P(, Values, ::testing::Values(7));

template <typename T>
class Typed : public ::testing::Test {};

using Types = ::testing::Types<int, long>;
TYPED_TEST_SUITE(Typed, Types);

TYPED_TEST(Typed, Counts)
{
    EXPECT_EQ(TypeParam(in_a_thread(8)), TypeParam(8));
}

template <typename T>
class Later : public ::testing::Test {};

TYPED_TEST_SUITE_P(Later);

TYPED_TEST_P(Later, Counts)
{
    EXPECT_EQ(TypeParam(in_a_thread(9)), TypeParam(9));
}

REGISTER_TYPED_TEST_SUITE_P(Later, Counts);
INSTANTIATE_TYPED_TEST_SUITE_P(Some, Later, Types);

#define MY_TEST(suite, name) TEST(suite, name)

MY_TEST(Own, Macro)
{
    EXPECT_EQ(in_a_thread(10), 10);
}
