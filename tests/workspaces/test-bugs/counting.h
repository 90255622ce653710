// Two threads count one each.
#include <mutex>
#include <thread>

inline int total;
inline std::mutex guard;

// Wrong (lost update): both may read before either writes.
inline int racing()
{
    total = 0;
    std::thread other([] { total++; });
    total++;
    other.join();
    return total;
}

inline int counted()
{
    total = 0;
    auto add = [] {
        std::lock_guard<std::mutex> alone(guard);
        total++;
    };
    std::thread other(add);
    add();
    other.join();
    return total;
}
