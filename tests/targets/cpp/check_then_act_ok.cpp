// Seat reservation: two clients book the last seat.
//
// Right: `try_sell_seat` looks and sells in one critical section.
#include <cstdlib>
#include <mutex>
#include <thread>

namespace {

class Cinema {
public:
    bool try_sell_seat()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        if (sold_ == seats)
            return false;
        ++sold_;
        return true;
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
    cinema.try_sell_seat();
}

} // namespace

int main()
{
    std::thread ann(book);
    std::thread bob(book);
    ann.join();
    bob.join();
    if (cinema.is_overbooked())
        std::exit(4);
}
