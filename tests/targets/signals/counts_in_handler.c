/* Whichever thread gets the signals for the process: its handler, and the threads, lose counts of each other. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile int count;

static void handle(int unused)
{
    (void)unused;
    count = count + 1;
}

static void *work(void *unused)
{
    kill(getpid(), SIGUSR1);
    count = count + 1;
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_handler = handle };
    pthread_t worker;

    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&worker, NULL, work, NULL);
    count = count + 1;
    pthread_join(worker, NULL);
    assert(count == 3);
    return 0;
}
