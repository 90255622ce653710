// A table with a checksum: one thread adds an entry, another one verifies the table.
//
// Right: the thread that changes the table holds the mutex for itself, so nobody looks while the checksum is old. (Both
// are volatile so that they are two stores at -O2 too.)
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <thread>

namespace {

std::shared_mutex table_mutex;
volatile int entries = 1;
volatile int checksum = 1;

void add_entry()
{
    std::unique_lock<std::shared_mutex> guard(table_mutex);
    entries = 2;
    checksum = 2;
}

void verify()
{
    std::shared_lock<std::shared_mutex> guard(table_mutex);
    int difference = checksum;
    difference -= entries;
    if (difference != 0)
        throw std::logic_error("the table does not match its checksum");
}

} // namespace

int main()
{
    std::thread writer(add_entry);
    std::thread auditor(verify);
    writer.join();
    auditor.join();
}
