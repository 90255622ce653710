#include <gtest/gtest.h>

#include "passing.hpp"

TEST(Door, CountsBoth) { let_two_pass(); }

TEST(Door, StaysShut) { EXPECT_EQ(passed, 0); }
