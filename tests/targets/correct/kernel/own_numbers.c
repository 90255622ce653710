/* A thread asks the kernel about its process and about itself, by the numbers that it knows of them. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
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

/* The numbers of those who have used objects of System V. */
static void has_used(void)
{
    int semaphore = semget(IPC_PRIVATE, 1, 0600);
    int memory = shmget(IPC_PRIVATE, 4096, 0600);
    int queue = msgget(IPC_PRIVATE, 0600);
    struct sembuf up = { .sem_op = 1 };
    struct shmid_ds of_memory;
    struct msqid_ds of_queue;
    struct {
        long type;
        char text[1];
    } message = { .type = 1 };
    void *place = shmat(memory, NULL, 0);
    assert(semop(semaphore, &up, 1) == 0 && semctl(semaphore, 0, GETPID) == getpid());
    assert(shmctl(memory, IPC_STAT, &of_memory) == 0);
    assert(of_memory.shm_cpid == getpid() && of_memory.shm_lpid == getpid());
    assert(msgsnd(queue, &message, 1, 0) == 0 && msgctl(queue, IPC_STAT, &of_queue) == 0);
    assert(of_queue.msg_lspid == getpid() && of_queue.msg_lrpid == 0);
    shmdt(place);
    semctl(semaphore, 0, IPC_RMID);
    shmctl(memory, IPC_RMID, NULL);
    msgctl(queue, IPC_RMID, NULL);
}

/* The number in its file. */
static void reads(void)
{
    int number = 0;
    FILE *file = fopen("/proc/self/stat", "r");
    assert(fscanf(file, "%d (own_numbers", &number) == 1 && number == getpid());
    fclose(file);
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
    has_used();
    reads();
    pthread_create(&thread, NULL, work, NULL);
    asks();
    pthread_join(thread, NULL);
    has_used();
    reads();
    return 0;
}
