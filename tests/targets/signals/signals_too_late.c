/* A signal is sent to a thread that may have ended by then, so that its handler does not run. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static volatile int step;
static volatile sig_atomic_t handled;

static void handle(int signal)
{
    (void)signal;
    handled = 1;
}

static void *work(void *unused)
{
    step = 1;
    return unused;
}

int main(void)
{
    pthread_t worker;
    int seen;

    signal(SIGUSR1, handle);
    pthread_create(&worker, NULL, work, NULL);
    pthread_kill(worker, SIGUSR1);
    seen = step;
    pthread_join(worker, NULL);
    if (!handled)
        abort(); /* FAILS HERE */
    return seen > 1;
}
