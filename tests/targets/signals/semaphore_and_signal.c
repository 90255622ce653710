/* A thread waits at a semaphore until main has done something, and gets a signal meanwhile: it waits again where the signal has ended
 * the wait, but not with -DONCE. -DRESTART: the handler is installed with SA_RESTART, which lets waits without a time limit go on.
 * -DTIMED, -DCLOCK: the wait has a time limit of 1000 s. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

static sem_t ready;
static int done;

static void nothing(int unused)
{
    (void)unused;
}

static int await(void)
{
#if defined TIMED || defined CLOCK
    struct timespec limit;
#ifdef TIMED
    const clockid_t clock = CLOCK_REALTIME;
#else
    const clockid_t clock = CLOCK_MONOTONIC;
#endif

    clock_gettime(clock, &limit);
    limit.tv_sec += 1000;
#ifdef TIMED
    return sem_timedwait(&ready, &limit);
#else
    return sem_clockwait(&ready, clock, &limit);
#endif
#else
    return sem_wait(&ready);
#endif
}

static void *use(void *unused)
{
#ifdef ONCE
    await();
#else
    while (await() != 0)
        assert(errno == EINTR);
#endif
    assert(done == 1);
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_handler = nothing };
    pthread_t thread;

#ifdef RESTART
    action.sa_flags = SA_RESTART;
#endif
    sigaction(SIGUSR1, &action, NULL);
    sem_init(&ready, 0, 0);
    pthread_create(&thread, NULL, use, NULL);
    pthread_kill(thread, SIGUSR1);
    done = 1;
    sem_post(&ready);
    pthread_join(thread, NULL);
    return 0;
}
