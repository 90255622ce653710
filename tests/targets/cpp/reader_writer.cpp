// A table with a checksum: one thread adds an entry, another one verifies the table.
//
// Wrong (reader/writer mistake): the thread that changes the table holds the mutex as a reader, so the other one can look
// while the checksum is old.
// Finding: assertion (an exception that nobody catches ends in abort), in `verify`.
// Preemptions: 1. With 0, entry and checksum are written back to back. With 1: stop the writer between the two, and let the
// auditor run. (Stopping the auditor between its two reads does it too.)
// Optimisation: both are volatile, or a compiler may write them with one store.
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
    std::shared_lock<std::shared_mutex> guard(table_mutex);
    entries = 2;
    checksum = 2;
}

void verify()
{
    std::shared_lock<std::shared_mutex> guard(table_mutex);
    int difference = checksum;
    difference -= entries;
    if (difference != 0)
        throw std::logic_error("the table does not match its checksum"); // FAILS HERE
}

} // namespace

int main()
{
    std::thread writer(add_entry);
    std::thread auditor(verify);
    writer.join();
    auditor.join();
}
