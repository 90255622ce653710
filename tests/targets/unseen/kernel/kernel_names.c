/* Main takes it that nobody has what it asks the kernel for: an address, the name of a socket, memory, the length of a file with two
 * names, an address that it has freed. A thread changes that for a moment, and puts it back. The argument chooses what it is. With -DTRY, both take a lock for it. */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { PAGE = 4096 };
static char *const place = (char *)0x610000000000;
static char *freed;
static const char *way;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct sockaddr_un name = {AF_UNIX, "socket"};
static int server;

static void begin(void)
{
#ifdef TRY
    pthread_mutex_lock(&lock);
#endif
}

static void end(void)
{
#ifdef TRY
    pthread_mutex_unlock(&lock);
#endif
}

static char *map(char *at, int flags)
{
    return mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void limit_memory(rlim_t most)
{
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = most;
    setrlimit(RLIMIT_AS, &limit);
}

static void *changes(void *unused)
{
    begin();
    if (!strcmp(way, "socket")) {
        bind(server, (const struct sockaddr *)&name, sizeof name);
        listen(server, 1);
        unlink(name.sun_path);
        close(server);
    } else if (!strcmp(way, "limit")) {
        limit_memory(PAGE);
        limit_memory(RLIM_INFINITY);
    } else if (!strcmp(way, "link")) {
        assert(truncate("first", 3) == 0 && truncate("first", 0) == 0);
    } else if (!strcmp(way, "freed")) {
        map(NULL, 0);
    } else {
        char *there = strcmp(way, "grow") == 0 ? place + PAGE : place;
        map(there, MAP_FIXED);
        munmap(there, PAGE);
    }
    end();
    return unused;
}

static int is_free(int client)
{
    struct stat second;
    if (!strcmp(way, "socket"))
        return connect(client, (const struct sockaddr *)&name, sizeof name) != 0;
    if (!strcmp(way, "limit"))
        return map(NULL, 0) != MAP_FAILED;
    if (!strcmp(way, "link"))
        return stat("second", &second) == 0 && second.st_size == 0;
    if (!strcmp(way, "freed")) {
        munmap(freed, PAGE);
        return map(freed, MAP_FIXED_NOREPLACE) == freed;
    }
    if (!strcmp(way, "grow"))
        return mremap(place, PAGE, 2 * PAGE, 0) == place;
    return map(place, strcmp(way, "hint") == 0 ? 0 : MAP_FIXED_NOREPLACE) == place;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    way = count > 1 ? arguments[1] : "hint";
    freed = map(NULL, 0);
    server = socket(AF_UNIX, SOCK_STREAM, 0);
    int client = socket(AF_UNIX, SOCK_STREAM, 0);
    close(open("first", O_CREAT | O_RDWR, 0600));
    link("first", "second");
    if (!strcmp(way, "grow"))
        map(place, MAP_FIXED);
    pthread_create(&thread, NULL, changes, NULL);
    begin();
    assert(is_free(client));
    end();
    pthread_join(thread, NULL);
    return 0;
}
