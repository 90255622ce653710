/* One thread makes a call on a descriptor, another one closes it, or with -DREPLACE gives its number to the end of a pipe. With -DTRY, they do so one
 * after the other. With -DFIRST, the thread that closes it is created first, and the call has to fail. The argument chooses the call. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

static const char *what;
static int descriptor, ends[2];

static int is(const char *call)
{
    return strcmp(what, call) == 0;
}

static int open_folder(void)
{
    return open("/", O_RDONLY | O_DIRECTORY);
}

static int make(void)
{
    sigset_t none;
    sigemptyset(&none);
    if (is("getsockname") || is("getsockopt") || is("setsockopt"))
        return socket(AF_UNIX, SOCK_STREAM, 0);
    if (is("poll") || is("select") || is("signalfd"))
        return signalfd(-1, &none, SFD_NONBLOCK);
    if (is("timerfd_settime") || is("timerfd_gettime"))
        return timerfd_create(CLOCK_MONOTONIC, 0);
    if (is("fsync") || is("fdatasync") || is("syncfs") || is("fadvise") || is("readahead"))
        return memfd_create("file", 0);
    return open_folder();
}

/* Whether the call finds what the descriptor stood for. */
static int call(void)
{
    sigset_t none;
    struct pollfd polled = {descriptor, POLLIN, 0};
    struct timeval at_once = {0, 0};
    struct itimerspec set = {{0, 0}, {5, 0}};
    struct stat about;
    struct statx more;
    struct sockaddr address;
    socklen_t length = sizeof address;
    char text[16];
    int value = 1;
    fd_set members;
    sigemptyset(&none);
    if (is("fsync"))
        return fsync(descriptor) == 0;
    if (is("fdatasync"))
        return fdatasync(descriptor) == 0;
    if (is("syncfs"))
        return syncfs(descriptor) == 0;
    if (is("fadvise"))
        return posix_fadvise(descriptor, 0, 0, POSIX_FADV_NORMAL) == 0;
    if (is("readahead"))
        return readahead(descriptor, 0, 1) == 0;
    if (is("poll"))
        return poll(&polled, 1, 0) == 0;
    if (is("select")) {
        FD_ZERO(&members);
        FD_SET(descriptor, &members);
        return select(descriptor + 1, &members, NULL, NULL, &at_once) == 0;
    }
    if (is("getsockname"))
        return getsockname(descriptor, &address, &length) == 0;
    length = sizeof value;
    if (is("getsockopt"))
        return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &value, &length) == 0;
    if (is("setsockopt"))
        return setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &value, length) == 0;
    if (is("signalfd"))
        return signalfd(descriptor, &none, 0) == descriptor;
    if (is("timerfd_settime"))
        return timerfd_settime(descriptor, 0, &set, NULL) == 0;
    if (is("timerfd_gettime"))
        return timerfd_gettime(descriptor, &set) == 0;
    if (is("openat"))
        return openat(descriptor, "none", O_RDONLY) < 0 && errno == ENOENT;
    if (is("fstatat"))
        return fstatat(descriptor, "none", &about, 0) < 0 && errno == ENOENT;
    if (is("statx"))
        return statx(descriptor, "none", 0, STATX_BASIC_STATS, &more) < 0 && errno == ENOENT;
    if (is("faccessat"))
        return faccessat(descriptor, "none", F_OK, 0) < 0 && errno == ENOENT;
    if (is("readlinkat"))
        return readlinkat(descriptor, "none", text, sizeof text) < 0 && errno == ENOENT;
    if (is("unlinkat"))
        return unlinkat(descriptor, "none", 0) < 0 && errno == ENOENT;
    if (is("renameat"))
        return renameat(descriptor, "none", descriptor, "other") < 0 && errno == ENOENT;
    if (is("linkat"))
        return linkat(descriptor, "none", AT_FDCWD, "/none/other", 0) < 0 && errno == ENOENT;
    if (is("symlinkat"))
        return symlinkat("none", descriptor, "none/other") < 0 && errno == ENOENT;
    if (is("mkdirat"))
        return mkdirat(descriptor, "none/other", 0700) < 0 && errno == ENOENT;
    if (is("fchmodat"))
        return fchmodat(descriptor, "none", 0700, 0) < 0 && errno == ENOENT;
    assert(is("utimensat"));
    return utimensat(descriptor, "none", NULL, 0) < 0 && errno == ENOENT;
}

static void *calls(void *unused)
{
#ifdef FIRST
    assert(!call());
#else
    assert(call());
#endif
    return unused;
}

static void *ends_it(void *unused)
{
#ifdef REPLACE
    dup2(ends[0], descriptor);
#else
    close(descriptor);
#endif
    return unused;
}

#ifdef FIRST
static void *(*const steps[])(void *) = {ends_it, calls};
#else
static void *(*const steps[])(void *) = {calls, ends_it};
#endif

int main(int argc, char **argv)
{
    pthread_t threads[2];
    assert(argc == 2);
    what = argv[1];
    assert(pipe(ends) == 0);
    descriptor = make();
    assert(descriptor >= 0);
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, steps[i], NULL);
#ifdef TRY
        pthread_join(threads[i], NULL);
#endif
    }
#ifndef TRY
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
#endif
    return 0;
}
