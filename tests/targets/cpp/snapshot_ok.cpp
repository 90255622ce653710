// The settings of a server: one thread changes them, another one takes a copy to work with.
//
// Right: the reader looks at the version before it copies and behind, and uses the copy only if nothing has changed
// meanwhile. (The settings are too large for a compiler to copy them without a call.)
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
    const unsigned before = version.load();
    if (before % 2 != 0)
        return;
    in_use = settings;
    if (version.load() != before)
        return;
    if (in_use.revision != in_use.last_revision)
        throw std::logic_error("the settings are of two revisions");
}

} // namespace

int main()
{
    std::thread writer(change);
    std::thread reader(reload);
    writer.join();
    reader.join();
}
