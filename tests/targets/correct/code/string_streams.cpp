// Each thread has streams of its own, in which it writes and reads.
#include <cassert>
#include <iomanip>
#include <sstream>
#include <string>
#include <thread>

static std::string told(int number) {
    std::ostringstream out;
    out << std::setw(4) << std::setfill('0') << number << ' ' << std::string("text") << ' ' << 1.5 << '\n';
    std::istringstream in(out.str());
    int first;
    std::string second, rest;
    in >> first >> second;
    std::getline(in, rest);
    std::stringstream both;
    both << first << second;
    return both.str();
}

int main() {
    std::string one, other;
    std::thread first([&] { one = told(1); }), second([&] { other = told(2); });
    first.join();
    second.join();
    assert(one == "1text" && other == "2text");
    return 0;
}
