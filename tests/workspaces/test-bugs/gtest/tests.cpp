// One bug in each kind of test, and a correct test beside them.
#include "counting.h"

#include <type_traits>

#include <gtest/gtest.h>

namespace {

TEST(Plain, Loses)
{
    EXPECT_EQ(racing(), 2) << "plain";
}

TEST(Plain, Counts)
{
    EXPECT_EQ(counted(), 2) << "correct";
}

TEST(Plain, IsSkipped)
{
    GTEST_SKIP() << "not here";
}

class Fixture : public ::testing::Test {
protected:
    int wanted_ = 2;
};

TEST_F(Fixture, Loses)
{
    EXPECT_EQ(racing(), wanted_) << "fixture";
}

// The instance with `true` is wrong, the other one is not.
class Values : public ::testing::TestWithParam<bool> {};

TEST_P(Values, MayLose)
{
    EXPECT_EQ(GetParam() ? racing() : counted(), 2) << "value";
}

INSTANTIATE_TEST_SUITE_P(Both, Values, ::testing::Bool());

template <typename T>
class Typed : public ::testing::Test {};

using Types = ::testing::Types<std::false_type, std::true_type>;
TYPED_TEST_SUITE(Typed, Types);

TYPED_TEST(Typed, MayLose)
{
    EXPECT_EQ(TypeParam::value ? racing() : counted(), 2) << "type";
}

} // namespace
