/* Two threads add to a number, one after the other, by something on which they wait in the kernel: a semaphore of System V, a
 * queue of messages of System V or of POSIX, a pipe from which `splice` moves bytes. With RACING each adds before it waits, so
 * that an addition is lost; with CROSSED each waits for what the other one gives later, and nobody can go on. */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <unistd.h>

static int total;

#if defined SEMAPHORES
static int set;

static void make(void) { assert((set = semget(IPC_PRIVATE, 2, 0600)) >= 0); }
static void change(int turn, int by)
{
    struct sembuf operation = {.sem_num = turn, .sem_op = by};
    assert(semop(set, &operation, 1) == 0);
}
static void give(int turn) { change(turn, 1); }
static void await(int turn) { change(turn, -1); }
static void end(void) { semctl(set, 0, IPC_RMID); }
#elif defined MESSAGES
static int queue;

static void make(void) { assert((queue = msgget(IPC_PRIVATE, 0600)) >= 0); }
static void give(int turn)
{
    long message[2] = {turn + 1};
    assert(msgsnd(queue, message, sizeof(long), 0) == 0);
}
static void await(int turn)
{
    long message[2];
    assert(msgrcv(queue, message, sizeof(long), turn + 1, 0) == sizeof(long));
}
static void end(void) { msgctl(queue, IPC_RMID, NULL); }
#elif defined POSIX
static mqd_t queues[2];

static void make(void)
{
    struct mq_attr one = {.mq_maxmsg = 1, .mq_msgsize = 8};
    for (int turn = 0; turn < 2; turn++) {
        queues[turn] = mq_open("/interleaver-kernel-queues", O_CREAT | O_RDWR, 0600, &one);
        mq_unlink("/interleaver-kernel-queues");
        assert(queues[turn] >= 0);
    }
}
static void give(int turn) { assert(mq_send(queues[turn], "", 1, 0) == 0); }
static void await(int turn)
{
    char message[8];
    assert(mq_receive(queues[turn], message, sizeof message, NULL) == 1);
}
static void end(void) {}
#else
static int from[2][2], to[2];

static void make(void) { assert(pipe(from[0]) == 0 && pipe(from[1]) == 0 && pipe(to) == 0); }
static void give(int turn) { assert(write(from[turn][1], "", 1) == 1); }
static void await(int turn) { assert(splice(from[turn][0], NULL, to[1], NULL, 1, 0) == 1); }
static void end(void) {}
#endif

static void add(void)
{
    int seen = __atomic_load_n(&total, __ATOMIC_RELAXED);
    __atomic_store_n(&total, seen + 1, __ATOMIC_RELAXED);
}

static void *second(void *unused)
{
#ifdef RACING
    add();
#endif
    await(1);
#ifndef RACING
    add();
#endif
    give(0);
    return unused;
}

int main(void)
{
    pthread_t thread;
    make();
    pthread_create(&thread, NULL, second, NULL);
#ifdef CROSSED
    await(0);
#endif
    add();
    give(1);
#ifndef CROSSED
    await(0);
#endif
    pthread_join(thread, NULL);
    end();
    assert(total == 2);
    return 0;
}
