#include "queue.h"

// Wrong (check then act): the lock is given back between the look and the push.
bool Queue::push(int job)
{
    if (size() >= limit_)
        return false;
    std::lock_guard<std::mutex> guard(lock_);
    jobs_.push_back(job);
    return true;
}

std::size_t Queue::size() const
{
    std::lock_guard<std::mutex> guard(lock_);
    return jobs_.size();
}
