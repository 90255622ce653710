// A test with two bugs, which have one exit code: an addition is lost in one of two counters. Which framework it is of is
// said when it is compiled.

#if defined WITH_GTEST
#include <gtest/gtest.h>
#define NAMED(name) TEST(Both, name)
#define EXPECT(what) EXPECT_TRUE(what)
#elif defined WITH_CATCH2
#include <catch2/catch.hpp>
#define NAMED(name) TEST_CASE(#name)
#define EXPECT(what) CHECK(what)
#else
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#define NAMED(name) TEST_CASE(#name)
#define EXPECT(what) CHECK(what)
#endif

#include <atomic>
#include <thread>

NAMED(Count)
{
    std::atomic<int> first{0}, second{0}, rounds{0};
    auto add = [&] {
        // For more schedules.
        for (int round = 0; round < 6; round++)
            rounds.fetch_add(1);
        first.store(first.load() + 1);
        second.store(second.load() + 1);
    };
    std::thread other(add);
    add();
    other.join();
    EXPECT(first == 2); // FIRST
    EXPECT(second == 2); // SECOND
}
