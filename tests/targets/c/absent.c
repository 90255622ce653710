/* A tandem: main and a friend set off together.
 *
 * Wrong (barrier misuse): the friend stays at home where it rains, and main goes to the start all the same.
 * Finding: deadlock, main in the barrier.
 * Preemptions: 0. Main runs first, so that it rains before the friend looks.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { RIDERS = 2 };

static pthread_barrier_t start;
static atomic_bool it_rains;

static void *ride(void *unused)
{
    (void)unused;
    if (!atomic_load(&it_rains))
        pthread_barrier_wait(&start);
    return NULL;
}

int main(void)
{
    pthread_t friend;

    pthread_barrier_init(&start, NULL, RIDERS);
    pthread_create(&friend, NULL, ride, NULL);
    atomic_store(&it_rains, true);
    pthread_barrier_wait(&start); /* FAILS HERE */
    pthread_join(friend, NULL);
    pthread_barrier_destroy(&start);
    return 0;
}
