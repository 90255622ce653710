// One bug in each kind of test, and a correct test beside them.
#if __has_include(<catch2/catch.hpp>)
#include <catch2/catch.hpp>
#else
#include <catch2/catch_all.hpp>
#endif

#include "counting.h"

TEST_CASE("a count is lost, [once]")
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

TEST_CASE_METHOD(Fixture, "a fixture loses a count")
{
    CHECK(racing() == wanted); // fixture
}

TEMPLATE_TEST_CASE("one type loses a count", "", std::false_type, std::true_type)
{
    CHECK((TestType::value ? racing() : counted()) == 2); // type
}

// Its name is a pattern that the next one matches, and there is no other way to name it.
TEST_CASE("nothing is lost*")
{
    REQUIRE(counted() == 2);
}

TEST_CASE("nothing is lost again")
{
    REQUIRE(counted() == 2);
}
