// One bug in each kind of test, and a correct test beside them.
#include <doctest/doctest.h>

#include "counting.h"

#include <type_traits>

TEST_CASE("a count is lost, once")
{
    REQUIRE(racing() == 2); // plain
}

TEST_CASE("nothing is lost")
{
    REQUIRE(counted() == 2); // correct
}

struct Fixture {
    int wanted = 2;
};

TEST_CASE_FIXTURE(Fixture, "a fixture loses a count")
{
    CHECK(racing() == wanted); // fixture
}

TEST_CASE_TEMPLATE("one type loses a count", Type, std::false_type, std::true_type)
{
    CHECK((Type::value ? racing() : counted()) == 2); // type
}

TEST_CASE("nothing is lost*")
{
    REQUIRE(counted() == 2); // a pattern
}

// What selects every type of the first selects the second, too.
TEST_CASE_TEMPLATE("pairs", Type, std::false_type, std::true_type)
{
    CHECK((Type::value || counted() == 2));
}

TEST_CASE("pairs<of> nothing")
{
    CHECK(counted() == 2);
}
