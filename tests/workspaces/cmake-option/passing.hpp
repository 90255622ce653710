#pragma once
#include <thread>
inline int passed;
inline void let_two_pass() {
    std::thread one([] { passed++; });
    std::thread two([] { passed++; });
    one.join();
    two.join();
    EXPECT_EQ(passed, 2);
}
