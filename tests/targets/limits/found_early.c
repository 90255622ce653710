/* One preemption loses an update; seeing all other schedules of the four threads would take for ever. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { COUNTERS = 4, ROUNDS = 50 };

static atomic_int counted;
static int seen;

static void *count(void *unused)
{
    seen++;
    for (int i = 0; i < ROUNDS; i++)
        atomic_fetch_add(&counted, 1);
    return unused;
}

int main(void)
{
    pthread_t threads[COUNTERS];

    for (int i = 0; i < COUNTERS; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < COUNTERS; i++)
        pthread_join(threads[i], NULL);
    assert(seen == COUNTERS); /* FAILS HERE */
    return 0;
}
