/* A thread asks the kernel about its process and about itself, by the numbers that it knows of them. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
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

/* What it is told of the sender of a signal, and of who is at the other end of a socket. */
static void is_told(void)
{
    int ends[2];
    siginfo_t info;
    sigset_t signals;
    struct ucred peer;
    socklen_t len = sizeof peer;
    clockid_t clock;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    pthread_kill(pthread_self(), SIGUSR1);
    assert(sigwaitinfo(&signals, &info) == SIGUSR1 && info.si_pid == getpid());
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    assert(getsockopt(ends[0], SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.pid == getpid());
    close(ends[0]);
    close(ends[1]);
    assert(clock_getcpuclockid(getpid(), &clock) == 0);
}

static void *work(void *unused)
{
    asks();
    is_told();
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
