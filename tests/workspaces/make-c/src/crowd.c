/* Four threads count together, correctly. Their interleavings are too many for any budget. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { THREADS = 4, ROUNDS = 25 };

static atomic_int counted;

static void *count(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++)
        atomic_fetch_add(&counted, 1);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(counted == THREADS * ROUNDS);
    return 0;
}
