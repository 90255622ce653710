// A thread that nobody waits for makes a variable of a function while main returns: whether it comes in time decides whether the variable
// is destroyed. With LATE, its destructor finds that what it needs is not there yet.
#include <thread>
#include <unistd.h>

static bool opened;

struct Log {
    Log() {
#ifndef LATE
        opened = true;
#endif
    }
    ~Log() {
        if (!opened)
            _exit(1);
    }
};

static Log &log() {
    static Log only;
    return only;
}

int main() {
    std::thread([] {
        log();
        opened = true;
    }).detach();
}
