/* Main takes for granted that a thread that has said that it is done has come to its end. The argument chooses how it asks: with "long",
 * it gives the thread five milliseconds, and with "join or wait", it waits for the end where that has not come. With "spawn", the
 * thread changes the working directory that a process gets, instead. With -DALONE, nothing in it tells beforehand that it asks. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_int number;
static const char *way;
#ifndef ALONE
static const struct timespec over = {0, 1};
#endif

static void *says_so(void *unused)
{
    if (strcmp(way, "spawn") == 0) {
        assert(chdir("/") == 0);
        assert(chdir("/proc/self") == 0);
    }
    atomic_store(&number, (int)syscall(SYS_gettid));
    return unused;
}

static int spawns_where_it_began(void)
{
    extern char **environ;
    char *arguments[] = {"sh", "-c", "test -e status", NULL};
    pid_t child;
    int status;
    assert(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0);
    assert(waitpid(child, &status, 0) == child);
    return status == 0;
}

static int has_ended(pthread_t thread)
{
    while (!atomic_load(&number))
        sched_yield();
#ifndef ALONE
    if (strcmp(way, "join") == 0)
        return pthread_tryjoin_np(thread, NULL) == 0;
    if (strcmp(way, "join or wait") == 0)
        return pthread_tryjoin_np(thread, NULL) == 0 || pthread_join(thread, NULL) == 0;
    if (strcmp(way, "long") == 0) {
        struct timespec limit;
        clock_gettime(CLOCK_MONOTONIC, &limit);
        limit.tv_nsec += 5000000;
        limit.tv_sec += limit.tv_nsec / 1000000000;
        limit.tv_nsec %= 1000000000;
        return pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &limit) == 0;
    }
    if (strcmp(way, "timed") == 0)
        return pthread_timedjoin_np(thread, NULL, &over) == 0;
    if (strcmp(way, "clock") == 0)
        return pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &over) == 0;
#endif
    return syscall(SYS_tgkill, getpid(), number, 0) != 0;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    way = count > 1 ? arguments[1] : "join";
    assert(chdir("/proc/self") == 0);
    pthread_create(&thread, NULL, says_so, NULL);
    if (strcmp(way, "spawn") == 0)
        assert(spawns_where_it_began());
    else
        assert(has_ended(thread));
    return 0;
}
