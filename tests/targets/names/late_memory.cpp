// Main spins for ever when the two workers lose an update. Only when it goes on does it show that it shares what they have put
// into the vector: the schedule of the failure was recorded when that was not known.
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct desk {
    std::atomic<int> busy{0};
    std::mutex lock;
    std::vector<int> letters;
};

static void work(std::shared_ptr<desk> desk, int number)
{
    {
        std::lock_guard<std::mutex> guard(desk->lock);
        desk->letters.push_back(number);
    }
    int left = desk->busy.load() - 1;
    desk->busy.store(left);
}

int main()
{
    auto desk = std::make_shared<struct desk>();
    std::thread workers[2];

    for (int number = 0; number < 2; number++) {
        desk->busy.fetch_add(1);
        workers[number] = std::thread(work, desk, number);
    }
    while (desk->busy.load() != 0)
        std::this_thread::yield();
    for (auto &worker : workers)
        worker.join();
    return desk->letters.size() == 2 ? 0 : 1;
}
