/* A thread asks the kernel about its process and about itself, by the numbers that it knows of them. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void asks(void)
{
    char path[64], link[64] = "", name[64] = "";
    struct rlimit limit;
    struct sched_param param;
    assert(syscall(SYS_getpgid, getpid()) == getpgrp());
    assert(prlimit(getpid(), RLIMIT_STACK, NULL, &limit) == 0);
    assert(getpriority(PRIO_PROCESS, gettid()) == getpriority(PRIO_PROCESS, 0));
    assert(sched_getparam(gettid(), &param) == 0);
    assert(close(syscall(SYS_pidfd_open, getpid(), 0)) == 0);
    assert(readlink("/proc/self", link, sizeof link - 1) > 0 && atoi(link) == getpid());
    snprintf(path, sizeof path, "/proc/%d/exe", getpid());
    assert(readlink(path, name, sizeof name - 1) > 0);
    snprintf(path, sizeof path, "/proc/%d/task/%d/cmdline", getpid(), gettid());
    assert(access(path, R_OK) == 0);
}

static void *work(void *unused)
{
    asks();
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    asks();
    pthread_join(thread, NULL);
    return 0;
}
