// Two threads use what belongs to owners of all kinds, and whoever is done with it last frees it. With the number of an owner as
// argument, what belongs to this one is freed by whoever is done with it first.
#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct alignas(64) wide {
    int value;
};

struct shape {
    int corners = 1;
    virtual ~shape() = default;
};

struct square : shape {
    std::array<int, 8> lengths{};
};

struct owned {
    const int *value;
    std::function<void()> give_back;
};

static owned (*const owners[])() = {
    [] {
        auto *number = new int(1);
        return owned{number, [number] { delete number; }};
    },
    [] {
        auto *numbers = new int[5]{1};
        return owned{numbers, [numbers] { delete[] numbers; }};
    },
    [] {
        auto *aligned = new wide{1};
        return owned{&aligned->value, [aligned] { delete aligned; }};
    },
    [] {
        auto *aligned = new wide[2]{{1}, {2}};
        return owned{&aligned->value, [aligned] { delete[] aligned; }};
    },
    [] {
        auto *number = new (std::nothrow) int(1);
        return owned{number, [number] { operator delete(number, std::nothrow); }};
    },
    [] {
        shape *made = new square;
        return owned{&made->corners, [made] { delete made; }};
    },
    [] {
        auto owner = std::make_shared<std::unique_ptr<int>>(std::make_unique<int>(1));
        return owned{owner->get(), [owner] { owner->reset(); }};
    },
    [] {
        auto list = std::make_shared<std::vector<int>>(std::vector<int>{1});
        return owned{list->data(), [list] { list->push_back(2); }};
    },
    [] {
        auto text = std::make_shared<std::string>(99, '\1');
        *reinterpret_cast<int *>(text->data()) = 1;
        return owned{reinterpret_cast<int *>(text->data()), [text] { text->append(99, '\1'); }};
    },
    [] {
        auto map = std::make_shared<std::map<int, int>>(std::map<int, int>{{7, 1}});
        return owned{&map->at(7), [map] { map->erase(7); }};
    },
    [] {
        auto queue = std::make_shared<std::list<int>>(std::list<int>{1});
        return owned{&queue->front(), [queue] { queue->pop_front(); }};
    },
};

constexpr int count = std::size(owners);

struct entry {
    owned what;
    std::atomic<int> users{2};
};

static std::array<entry, count> entries;
static int careless = -1;

static void obtain_every_second(int first)
{
    for (int kind = first; kind < count; kind += 2)
        entries[kind].what = owners[kind]();
}

static void use_all()
{
    for (int kind = 0; kind < count; kind++) {
        auto &[what, users] = entries[kind];
        if (*what.value != 1) // FAILS HERE
            std::abort();
        if (kind == careless || users.fetch_sub(1) == 1)
            what.give_back();
    }
}

static std::mutex log_mutex;
static std::vector<std::string> log_lines;

// What nobody else sees, and what the library itself shares.
static void do_chores(const std::shared_ptr<std::string> &name)
{
    std::weak_ptr<std::string> seen = name;
    std::ostringstream text;
    text << *seen.lock() << " is done with what is more than a short string";
    try {
        throw std::runtime_error(text.str());
    } catch (const std::runtime_error &error) {
        std::lock_guard guard(log_mutex);
        log_lines.emplace_back(error.what());
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        careless = std::atoi(argv[1]);
    obtain_every_second(0);
    auto name = std::make_shared<std::string>("a thread whose name is no short string");
    std::promise<std::unique_ptr<int>> promise;
    std::thread first([name, result = promise.get_future()]() mutable {
        obtain_every_second(1);
        std::thread second([name] {
            use_all();
            do_chores(name);
        });
        use_all();
        do_chores(name);
        name.reset();
        second.join();
        if (*result.get() != 7)
            std::abort();
    });
    name.reset();
    promise.set_value(std::make_unique<int>(7));
    first.join();
    return log_lines.size() == 2 ? 0 : 1;
}
