// A function of the C++ library reads what its argument refers to, twice, and another thread changes that. The argument chooses the
// function. With PRIVATE the thread changes an object of its own.
#include <cassert>
#include <cstring>
#include <functional>
#include <locale>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

struct Base {
    virtual ~Base() = default;
};
struct One : Base {
};
struct Two : Base {
};

struct Objects {
    char text[16] = "one";
    std::locale locale;
    alignas(Base) unsigned char place[sizeof(Base)];
    Base *object = new (place) One;
};

static Objects shared, own;
static const std::locale another(std::locale::classic(), new std::ctype<char>);

static std::size_t hashed()
{
    return std::hash<std::string_view>{}(std::string_view(shared.text, 3));
}

static std::size_t thrown()
{
    return std::strlen(std::runtime_error(shared.text).what());
}

static std::size_t copied()
{
    std::locale copy(shared.locale);
    return copy == std::locale::classic();
}

static std::size_t cast()
{
    return dynamic_cast<One *>(shared.object) != nullptr;
}

static void change(Objects &objects, const std::string &what)
{
    if (what == "hash" || what == "runtime_error")
        std::memcpy(objects.text, "three", 6);
    else if (what == "locale")
        objects.locale = another;
    else
        new (objects.place) Two;
}

int main(int count, char **arguments)
{
    assert(count == 2);
    const std::string what = arguments[1];
    auto *call = what == "hash" ? hashed : what == "runtime_error" ? thrown : what == "locale" ? copied : cast;
#ifdef PRIVATE
    Objects &changed = own;
#else
    Objects &changed = shared;
#endif
    std::thread thread([&] { change(changed, what); });
    std::size_t first = call(), second = call();
    thread.join();
    assert(first == second);
}
