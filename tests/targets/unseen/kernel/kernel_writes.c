/* A thread has the kernel write to memory that main reads twice: between the two it may have changed. The argument chooses the
 * system call. */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* What is written, after other bytes of it that no call leaves as they are. */
static union {
    unsigned char bytes[512];
    struct pollfd poll;
    struct epoll_event event;
    fd_set set;
    int number, pair[2];
    struct sockaddr_un address;
    struct statfs system;
    struct rlimit limit;
    struct rusage usage;
    struct sysinfo info;
    struct tms times;
    struct utsname name;
    struct timespec time;
    struct timeval day;
    cpu_set_t cpus;
    gid_t groups[64];
    uid_t ids[3];
    sigset_t signals;
    struct flock lock;
    struct mmsghdr message;
} shared;

/* A socket with a message, a pipe with a byte, a set that waits for it, and a file. */
static int ends[2], pipe_ends[2], set, file;
static socklen_t length = sizeof shared.address;

static void wait_for_one(void) { poll(&shared.poll, 1, 0); }
static void wait_for_events(void) { epoll_wait(set, &shared.event, 1, 0); }
static void select_one(void) { struct timeval now = {0, 0}; select(pipe_ends[1], &shared.set, NULL, NULL, &now); }
static void make_pipe(void) { assert(pipe(shared.pair) == 0); }
static void make_sockets(void) { assert(socketpair(AF_UNIX, SOCK_STREAM, 0, shared.pair) == 0); }
static void ask_name(void) { getsockname(ends[0], (struct sockaddr *)&shared.address, &length); }
static void ask_option(void) { socklen_t size = sizeof shared.number; getsockopt(ends[0], SOL_SOCKET, SO_TYPE, &shared.number, &size); }
static void ask_length(void) { ioctl(pipe_ends[0], FIONREAD, &shared.number); }
static void ask_system(void) { assert(statfs("/", &shared.system) == 0); }
static void ask_limit(void) { getrlimit(RLIMIT_NOFILE, &shared.limit); }
static void ask_usage(void) { getrusage(RUSAGE_SELF, &shared.usage); }
static void ask_info(void) { sysinfo(&shared.info); }
static void ask_times(void) { times(&shared.times); }
static void ask_machine(void) { uname(&shared.name); }
static void ask_time(void) { clock_gettime(CLOCK_REALTIME, &shared.time); }
static void ask_resolution(void) { clock_getres(CLOCK_REALTIME, &shared.time); }
static void ask_day(void) { gettimeofday(&shared.day, NULL); }
static void ask_chance(void) { assert(getrandom(shared.bytes, 16, 0) == 16); }
static void ask_cpus(void) { sched_getaffinity(0, sizeof shared.cpus, &shared.cpus); }
static void ask_ids(void) { getresuid(&shared.ids[0], &shared.ids[1], &shared.ids[2]); }
static void ask_signals(void) { sigpending(&shared.signals); }
static void ask_lock(void) { fcntl(file, F_GETLK, &shared.lock); }

static void receive_all(void)
{
    struct iovec buffer = {shared.bytes, 1};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &buffer, .msg_iovlen = 1}};

    assert(recvmmsg(ends[0], &message, 1, 0, NULL) == 1);
}

static const struct {
    const char *name;
    void (*call)(void);
    size_t size;
} calls[] = {
    {"poll", wait_for_one, sizeof shared.poll},
    {"epoll", wait_for_events, sizeof shared.event},
    {"select", select_one, 8},
    {"pipe", make_pipe, sizeof shared.pair},
    {"socketpair", make_sockets, sizeof shared.pair},
    {"getsockname", ask_name, 2},
    {"getsockopt", ask_option, sizeof shared.number},
    {"ioctl", ask_length, sizeof shared.number},
    {"statfs", ask_system, 16},
    {"getrlimit", ask_limit, sizeof shared.limit},
    {"getrusage", ask_usage, 16},
    {"sysinfo", ask_info, 16},
    {"times", ask_times, 16},
    {"uname", ask_machine, 8},
    {"clock_gettime", ask_time, sizeof shared.time},
    {"clock_getres", ask_resolution, sizeof shared.time},
    {"gettimeofday", ask_day, sizeof shared.day},
    {"getrandom", ask_chance, 16},
    {"sched_getaffinity", ask_cpus, 8},
    {"getresuid", ask_ids, sizeof shared.ids},
    {"sigpending", ask_signals, 8},
    {"fcntl", ask_lock, 8},
    {"recvmmsg", receive_all, 1},
};

static size_t chosen;

static void *call(void *unused)
{
    calls[chosen].call();
    return unused;
}

static int changes(void)
{
    const volatile unsigned char *bytes = shared.bytes;
    unsigned char seen[sizeof shared.bytes];

    for (size_t i = 0; i < calls[chosen].size; i++)
        seen[i] = bytes[i];
    for (size_t i = 0; i < calls[chosen].size; i++)
        if (seen[i] != bytes[i])
            return 1;
    return 0;
}

static void prepare(void)
{
    struct epoll_event wanted = {.events = EPOLLIN, .data.u64 = 7};

    assert(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0 && send(ends[1], "x", 1, 0) == 1);
    assert(pipe(pipe_ends) == 0 && write(pipe_ends[1], "x", 1) == 1);
    set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, pipe_ends[0], &wanted);
    file = open("locked", O_RDWR | O_CREAT, 0600);
    memset(shared.bytes, 0x55, sizeof shared.bytes);
    if (calls[chosen].call == wait_for_one)
        shared.poll = (struct pollfd){.fd = pipe_ends[0], .events = POLLIN};
    if (calls[chosen].call == select_one)
        FD_SET(pipe_ends[0], &shared.set);
    if (calls[chosen].call == ask_lock)
        shared.lock = (struct flock){.l_type = F_WRLCK};
}

int main(int argc, char **argv)
{
    pthread_t thread;

    assert(argc == 2);
    while (strcmp(argv[1], calls[chosen].name))
        chosen++;
    prepare();
    pthread_create(&thread, NULL, call, NULL);
    int has_changed = changes();
    pthread_join(thread, NULL);
    assert(!has_changed);
    return 0;
}
