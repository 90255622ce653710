// Threads print in all ways, without a lock, and look at nothing but whether that is a number.
#include <cstdio>
#include <iostream>
#include <thread>

static void print(int number) {
    std::cout << "line " << number << 'x' << std::endl;
    std::cout.put('c').flush();
    std::cerr << number << '\n';
    std::printf("number %d\n", number);
    std::fputs("done\n", stderr);
}

int main() {
    std::thread one(print, 1), two(print, 2);
    print(3);
    one.join();
    two.join();
    return std::ferror(stdout) || !std::cout;
}
