// Two jobs share a printer, which a semaphore guards.
//
// Wrong (semaphore misuse): the semaphore starts at 2, from the time when there were two printers.
// Finding: assertion, in `print_page`.
// Preemptions: 1. With 0, a job ends before the other one starts, for nothing blocks it. With 1: stop the first job while
// it prints, and let the other one run.
// Optimisation: relaxed atomics are plain instructions that no compiler merges.
#include <atomic>
#include <cassert>
#include <semaphore>
#include <thread>

namespace {

std::counting_semaphore<2> printer_is_free{2};
std::atomic<bool> printing{false};

void print_page()
{
    printer_is_free.acquire();
    assert(!printing.load(std::memory_order_relaxed)); // FAILS HERE
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
