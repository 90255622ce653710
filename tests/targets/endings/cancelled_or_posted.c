/* A thread waits at a semaphore. One thread posts it, and main cancels it. */
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t ready;

static void *await(void *unused)
{
    sem_wait(&ready);
    return unused;
}

static void *post(void *unused)
{
    sem_post(&ready);
    return unused;
}

int main(void)
{
    pthread_t waiter, poster;

    sem_init(&ready, 0, 0);
    pthread_create(&waiter, NULL, await, NULL);
    pthread_create(&poster, NULL, post, NULL);
    pthread_cancel(waiter);
    pthread_join(waiter, NULL);
    return pthread_join(poster, NULL);
}
