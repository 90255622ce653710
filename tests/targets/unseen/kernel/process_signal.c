/* A signal of the process goes to one of the threads that take it: one waits for it, and another begins to take it at some time, or
 * does not (-DAPART). The signal ends the process where it comes to that one.
 */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static sigset_t signals;

static void *waits(void *unused)
{
    int number;
    sigwait(&signals, &number);
    return unused;
}

static void *takes_it_too(void *unused)
{
#ifndef APART
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
#endif
    return unused;
}

int main(void)
{
    pthread_t waiter, other;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    pthread_create(&waiter, NULL, waits, NULL);
    pthread_create(&other, NULL, takes_it_too, NULL);
    kill(getpid(), SIGTERM);
    pthread_join(waiter, NULL);
    pthread_join(other, NULL);
    return 0;
}
