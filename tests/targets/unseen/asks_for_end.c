/* Main takes for granted that a thread that has said that it is done has come to its end. The argument chooses how it asks. With
 * "spawn", the thread changes the working directory that a process gets, instead. */
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
static const struct timespec over = {0, 1};

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
    if (strcmp(way, "join") == 0)
        return pthread_tryjoin_np(thread, NULL) == 0;
    if (strcmp(way, "timed") == 0)
        return pthread_timedjoin_np(thread, NULL, &over) == 0;
    if (strcmp(way, "clock") == 0)
        return pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &over) == 0;
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
