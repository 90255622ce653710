// Names that its command line gives a meaning to, and every macro that makes a test.
#if __has_include(<catch2/catch.hpp>)
#include <catch2/catch.hpp>
#else
#include <catch2/catch_all.hpp>
#endif

#include <thread>

static int in_a_thread(int value)
{
    int result = 0;
    std::thread other([&] { result = value; });
    other.join();
    return result;
}

TEST_CASE("one thread adds", "[plain]")
{
    REQUIRE(in_a_thread(1) == 1);
}

TEST_CASE("one thread adds, [twice]: \"a\" * b", "[odd][names]")
{
    REQUIRE(in_a_thread(2) == 2);
}

TEST_CASE("one thread adds "
          "in two literals")
{
    REQUIRE(in_a_thread(3) == 3);
}

SCENARIO("a queue is filled", "[story]")
{
    GIVEN("nothing") { REQUIRE(in_a_thread(4) == 4); }
}

struct Fixture {
    int value = 5;
};

TEST_CASE_METHOD(Fixture, "a fixture is used", "[fixture]")
{
    REQUIRE(in_a_thread(value) == 5);
}

TEMPLATE_TEST_CASE("types are counted", "[types]", int, long)
{
    REQUIRE(TestType(in_a_thread(6)) == TestType(6));
}
