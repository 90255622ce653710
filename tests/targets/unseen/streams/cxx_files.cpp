// Files of the C++ library. Two threads each have streams of their own, ask about files, and choose by chance: nothing of it
// matters to the other one. With -DONE both write to one stream of a file, and the assertion wants an order: with -DTRY under a lock, and in
// any order. With -DPATH one thread changes the path that the other one asks about. With -DMADE one asks for a file that the other one makes.
#include <cassert>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <locale>
#include <mutex>
#include <random>
#include <string>
#include <thread>

namespace fs = std::filesystem;
static std::mutex lock;
static int count;

static std::string first_line(const std::string &path) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    return line;
}

#if defined ONE || defined TRY
static std::ofstream out("written");
static void run(char letter) {
#if defined TRY
    std::lock_guard<std::mutex> guard(lock);
#endif
    out << letter << letter;
}
#elif defined PATH
static fs::path asked("/dev/null");
static void run(char letter) {
    if (letter == 'a') asked = "/dev/none";
    else assert(fs::exists(asked));
}
#elif defined MADE
static void run(char letter) {
    if (letter == 'a') std::ofstream("made") << letter;
    else assert(!fs::exists("made"));
}
#else
static void run(char letter) {
    std::string path(1, letter);
    std::ofstream(path) << letter << std::endl;
    assert(fs::exists(path) && fs::file_size(path) == 2 && first_line(path) == std::string(1, letter));
    std::locale classic("C");
    std::random_device chance;
    std::lock_guard<std::mutex> guard(lock);
    count += chance() < chance.max() || classic == std::locale::classic();
}
#endif

int main() {
    std::thread one(run, 'a'), other(run, 'b');
    one.join();
    other.join();
#if defined ONE || defined TRY
    out.close();
    std::string text = first_line("written");
#ifdef TRY
    assert(text == "aabb" || text == "bbaa");
#else
    assert(text == "aabb");
#endif
#elif !defined PATH && !defined MADE
    assert(count == 2);
#endif
    return 0;
}
