// Two jobs share a printer, which a semaphore guards.
//
// Right: the semaphore starts at 1, the number of printers.
//
// So it is with one preemption. With two, libstdc++ 12 loses a wake-up of its own: acquire() remembers the counter, spins,
// and then sleeps for as long as the counter is what it was before. If another thread has acquired and released in the
// meantime, the counter is that again, and nobody wakes the sleeper.
#include <atomic>
#include <cassert>
#include <semaphore>
#include <thread>

namespace {

std::counting_semaphore<2> printer_is_free{1};
std::atomic<bool> printing{false};

void print_page()
{
    printer_is_free.acquire();
    assert(!printing.load(std::memory_order_relaxed));
    printing.store(true, std::memory_order_relaxed);
    printing.store(false, std::memory_order_relaxed);
    printer_is_free.release();
}

} // namespace

int main()
{
    std::thread letter(print_page);
    std::thread invoice(print_page);
    letter.join();
    invoice.join();
}
