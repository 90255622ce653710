/* A worker polls a flag 300 times, and gives up then. The other one must not come after that: it does if the worker's polls are
 * not interrupted, however long they take. No preemption shows it: the worker, which is created last, runs before the other. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int stop, given_up;

static void *poll(void *unused)
{
    for (int round = 0; round < 300; round++)
        if (atomic_load(&stop))
            return unused;
    atomic_store(&given_up, 1);
    return unused;
}

static void *ask(void *unused)
{
    if (atomic_load(&given_up))
        abort(); /* FAILS HERE */
    atomic_store(&stop, 1);
    return unused;
}

int main(void)
{
    pthread_t asking, polling;

    pthread_create(&asking, NULL, ask, NULL);
    pthread_create(&polling, NULL, poll, NULL);
    pthread_join(polling, NULL);
    pthread_join(asking, NULL);
    return 0;
}
