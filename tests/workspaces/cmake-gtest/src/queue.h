// A queue of jobs that several threads fill.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

class Queue {
public:
    explicit Queue(std::size_t limit) : limit_(limit) {}

    // Adds a job unless the queue is full, and says whether it did. Any thread may call it.
    bool push(int job);

    std::size_t size() const;

private:
    std::size_t limit_;
    mutable std::mutex lock_;
    std::vector<int> jobs_;
};
