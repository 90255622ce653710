// A pointer to an exception is copied while another thread gives it another value: the copy may count an owner of what has been freed, and
// is made again for the exception after that. Built with -DTRY, both lock a mutex for it.
#include <cassert>
#include <exception>
#include <mutex>
#include <thread>

namespace {

std::mutex mutex;
std::exception_ptr current = std::make_exception_ptr(1);
std::exception_ptr next = std::make_exception_ptr(2);

std::unique_lock<std::mutex> lock()
{
#ifdef TRY
    return std::unique_lock<std::mutex>(mutex);
#else
    return {};
#endif
}

void copies()
{
    std::exception_ptr copy;
    {
        const auto locked = lock();
        copy = current;
    }
    try {
        std::rethrow_exception(copy);
    } catch (int thrown) {
        assert(thrown == 1 || thrown == 2);
    }
}

}

int main()
{
    std::thread thread(copies);
    {
        const auto locked = lock();
        current = next;
    }
    const std::exception_ptr other = std::make_exception_ptr(77);
    thread.join();
    return 0;
}
