/* A function lends its variable to a thread that works for whoever asks, and returns once that is done with it. The next one
 * lends its own, which is in the same place. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t asked, done;
static int *number;

static void *work(void *unused)
{
    for (int round = 0; round < 2; round++) {
        sem_wait(&asked);
        *number += 1;
        sem_post(&done);
    }
    return unused;
}

static int __attribute__((noinline)) increase(int from)
{
    int own = from;

    number = &own;
    sem_post(&asked);
    sem_wait(&done);
    return own;
}

static int __attribute__((noinline)) increase_twice(int from)
{
    int own[2] = {from, from + 1};

    number = own;
    sem_post(&asked);
    sem_wait(&done);
    return own[0] + own[1];
}

int main(void)
{
    pthread_t thread;

    sem_init(&asked, 0, 0);
    sem_init(&done, 0, 0);
    pthread_create(&thread, NULL, work, NULL);
    assert(increase(1) == 2);
    assert(increase_twice(2) == 6);
    pthread_join(thread, NULL);
    return 0;
}
