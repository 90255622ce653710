// Two threads insert into a map without a lock: the library's balancing links one of the two entries.
#include <cassert>
#include <map>
#include <thread>

static std::map<int, int> ages;

int main()
{
    ages[0] = 1;
    std::thread other([] { ages[1] = 1; });
    ages[2] = 1;
    other.join();
    assert(ages.size() == 3);
    return 0;
}
