// Names that its command line gives a meaning to, and every macro that makes a test.
#include <doctest/doctest.h>

#include <thread>

static int in_a_thread(int value)
{
    int result = 0;
    std::thread other([&] { result = value; });
    other.join();
    return result;
}

TEST_CASE("one thread adds")
{
    CHECK(in_a_thread(1) == 1);
}

TEST_CASE("one thread adds, twice \\ [a]")
{
    CHECK(in_a_thread(2) == 2);
}

TEST_SUITE("a suite")
{
    TEST_CASE("one thread adds in a suite")
    {
        CHECK(in_a_thread(3) == 3);
    }
}

SCENARIO("a queue is filled")
{
    GIVEN("nothing") { CHECK(in_a_thread(4) == 4); }
}

struct Fixture {
    int value = 5;
};

TEST_CASE_FIXTURE(Fixture, "a fixture is used")
{
    CHECK(in_a_thread(value) == 5);
}

TEST_CASE_TEMPLATE("types are counted", Type, int, long)
{
    CHECK(Type(in_a_thread(6)) == Type(6));
}
