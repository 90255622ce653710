// A template of a test framework looks at a value of the program's, which another thread writes meanwhile.

#include <cstdlib>
#include <thread>

#line 1 "gtest/gtest.h"
template <typename T>
[[gnu::noinline]] bool are_equal(const T &left, const T &right)
{
    return left == right;
}

#line 14 "compares_for_test.cpp"
static int value;

int main()
{
    std::thread other([] { value = 1; });
    bool is_expected = are_equal(value, 0);
    other.join();
    return is_expected ? EXIT_SUCCESS : EXIT_FAILURE;
}
