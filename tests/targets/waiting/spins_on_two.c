/* A thread waits, busily, for one of two flags, each of which another thread sets. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int flags[2];

static void *wait_for_one(void *unused)
{
    while (!flags[0] && !flags[1])
        ;
    return unused;
}

static void *set(void *flag)
{
    atomic_store((atomic_int *)flag, 1);
    return NULL;
}

int main(void)
{
    pthread_t waiter, setters[2];

    pthread_create(&waiter, NULL, wait_for_one, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&setters[i], NULL, set, &flags[i]);
    pthread_join(waiter, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(setters[i], NULL);
    return 0;
}
