// The standard output goes into a text for a moment; what another thread writes meanwhile goes there too.
#include <cassert>
#include <iostream>
#include <sstream>
#include <thread>

int main()
{
    std::thread other([] { std::cout << "from elsewhere\n"; });
    std::ostringstream text;
    std::streambuf *before = std::cout.rdbuf(text.rdbuf());
    std::cout << "own";
    std::cout.rdbuf(before);
    other.join();
    assert(text.str() == "own");
}
