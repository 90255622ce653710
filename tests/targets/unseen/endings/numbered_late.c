// A call that is given the number of another thread fails where that has ended; one about a group of processes tells what its threads have. The
// argument says which call. It comes when the thread has told its number, and with -DFIRST before the thread is told to end.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static sem_t told, asked;
static pid_t number;

static void *work(void *unused)
{
    (void)unused;
    number = gettid();
    sem_post(&told);
#ifdef FIRST
    sem_wait(&asked);
#endif
    return NULL;
}

// Whether the thread was there.
static int call(const char *which)
{
    struct sched_param priority = {0};
    struct rlimit limit;
    if (strcmp(which, "group") == 0)
        return getpriority(PRIO_PGRP, 0) >= -20;
    if (strcmp(which, "setpriority") == 0)
        return setpriority(PRIO_PROCESS, number, 19) == 0;
    if (strcmp(which, "scheduler") == 0)
        return sched_setscheduler(number, SCHED_OTHER, &priority) == 0;
    if (strcmp(which, "param") == 0)
        return sched_setparam(number, &priority) == 0;
    if (strcmp(which, "limit") == 0)
        return prlimit(number, RLIMIT_CORE, NULL, &limit) == 0;
    if (strcmp(which, "session") == 0)
        return getsid(number) > 0;
    if (strcmp(which, "io") == 0)
        return syscall(SYS_ioprio_get, 1, number) >= 0;
    return getpgid(number) > 0;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    int was_there;
    assert(count == 2);
    sem_init(&told, 0, 0);
    sem_init(&asked, 0, 0);
    pthread_create(&thread, NULL, work, NULL);
    sem_wait(&told);
    was_there = call(arguments[1]);
    sem_post(&asked);
    pthread_join(thread, NULL);
#ifdef FIRST
    assert(was_there);
#else
    assert(!was_there || strcmp(arguments[1], "group") == 0);
#endif
    return 0;
}
