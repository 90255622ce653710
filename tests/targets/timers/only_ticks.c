/* A timer goes on ticking, and nobody reads its file: all threads wait for ever. */
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/timerfd.h>

static sem_t never;

static void *wait(void *unused)
{
    sem_wait(&never);
    return unused;
}

int main(void)
{
    struct itimerspec often = { .it_value = { .tv_nsec = 1000 }, .it_interval = { .tv_nsec = 1000000 } };
    pthread_t thread;

    sem_init(&never, 0, 0);
    timerfd_settime(timerfd_create(CLOCK_MONOTONIC, 0), 0, &often, NULL);
    pthread_create(&thread, NULL, wait, NULL);
    pthread_join(thread, NULL);
    return 0;
}
