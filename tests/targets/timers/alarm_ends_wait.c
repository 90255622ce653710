/* A thread waits for an alarm. With -DPAUSE it looks first and waits then: an alarm between the two ends no wait. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t rang;
static int shared;

static void ring(int number)
{
    (void)number;
    rang = 1;
}

static void *write_shared(void *unused)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    shared = 1;
    return unused;
}

int main(void)
{
    sigset_t alarms, before;
    pthread_t thread;

    signal(SIGALRM, ring);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
#ifndef PAUSE
    pthread_sigmask(SIG_BLOCK, &alarms, &before);
#endif
    pthread_create(&thread, NULL, write_shared, NULL);
    ualarm(60, 0);
#ifdef PAUSE
    (void)before;
    if (!rang)
        pause();
#else
    while (!rang)
        sigsuspend(&before);
#endif
    pthread_join(thread, NULL);
    return shared == 1 && rang == 1 ? 0 : 1;
}
