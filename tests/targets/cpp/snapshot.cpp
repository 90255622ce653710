// The settings of a server: one thread changes them, another one takes a copy to work with.
//
// Wrong (torn read): a version that is odd while the settings change tells the reader to keep away, but the reader looks
// at it only before it copies, and not again behind.
// Finding: assertion (an exception that nobody catches ends in abort), in `reload`.
// Preemptions: 2. The copy is one event (a call of `memcpy`), so it is torn only between the two stores, where the version
// is odd: the writer has to be stopped there, which is one preemption, with the reader past its look at the version, which
// was even. So the reader has been stopped between its look and its copy, which is another one: nobody blocks.
// Optimisation: the settings are too large for a compiler to copy them without a call, and go to a place where all of them
// may be needed.
#include <atomic>
#include <stdexcept>
#include <thread>

struct Settings {
    long revision;
    char rules[16384];
    long last_revision;
};

Settings settings;
Settings in_use;

namespace {

std::atomic<unsigned> version{0};

void change()
{
    version.fetch_add(1);
    settings.revision = 1;
    settings.last_revision = 1;
    version.fetch_add(1);
}

void reload()
{
    if (version.load() % 2 != 0)
        return;
    in_use = settings;
    if (in_use.revision != in_use.last_revision)
        throw std::logic_error("the settings are of two revisions"); // FAILS HERE
}

} // namespace

int main()
{
    std::thread writer(change);
    std::thread reader(reload);
    writer.join();
    reader.join();
}
