/* A tandem: main and a friend set off together.
 *
 * Right: the friend comes to the start and looks there.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { RIDERS = 2 };

static pthread_barrier_t start;
static atomic_bool it_rains;
static bool has_gone_home;

static void *ride(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&start);
    has_gone_home = atomic_load(&it_rains);
    return NULL;
}

int main(void)
{
    pthread_t friend;

    pthread_barrier_init(&start, NULL, RIDERS);
    pthread_create(&friend, NULL, ride, NULL);
    atomic_store(&it_rains, true);
    pthread_barrier_wait(&start);
    pthread_join(friend, NULL);
    pthread_barrier_destroy(&start);
    return has_gone_home ? 0 : 1;
}
