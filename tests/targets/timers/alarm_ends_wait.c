/* A thread waits for an alarm. With -DPAUSE it looks first and waits then: an alarm between the two ends no wait. With -DEARLY the
 * alarm is set before main. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t rang;
static int shared;
static sigset_t before;

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

#ifdef EARLY
__attribute__((constructor))
#endif
static void set_alarm(void)
{
    sigset_t alarms;

    signal(SIGALRM, ring);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
#ifndef PAUSE
    pthread_sigmask(SIG_BLOCK, &alarms, &before);
#endif
    ualarm(60, 0);
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, write_shared, NULL);
#ifndef EARLY
    set_alarm();
#endif
#ifdef PAUSE
    if (!rang)
        pause();
#else
    while (!rang)
        sigsuspend(&before);
#endif
    pthread_join(thread, NULL);
    return shared == 1 && rang == 1 ? 0 : 1;
}
