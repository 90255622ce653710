// Seat reservation: two clients book the last seat.
//
// Wrong (atomicity violation): each method of `Cinema` locks, but the two calls of `book` are not one critical section.
// Between them the other client can take the seat.
// Finding: exit-code (4, more seats sold than there are), in main.
// Preemptions: 1. With 0, the mutex is free whenever a client asks for it, so each booking runs undivided. With 1: stop the
// first client between its two calls, and let the other one book.
#include <cstdlib>
#include <mutex>
#include <thread>

namespace {

class Cinema {
public:
    bool has_seat()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        return sold_ < seats;
    }

    void sell_seat()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        ++sold_;
    }

    bool is_overbooked() const { return sold_ > seats; }

private:
    static constexpr int seats = 1;
    std::mutex mutex_;
    int sold_ = 0;
};

Cinema cinema;

void book()
{
    if (cinema.has_seat())
        cinema.sell_seat();
}

} // namespace

int main()
{
    std::thread ann(book);
    std::thread bob(book);
    ann.join();
    bob.join();
    if (cinema.is_overbooked())
        std::exit(4); // FAILS HERE
}
