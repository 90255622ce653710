/* A donation box: main and a visitor give three coins each.
 *
 * Wrong (failed try-lock): who finds the box locked goes on, and what was to be given is never given.
 * Finding: assertion, at the end of `main`.
 * Preemptions: 1. With 0, one gives after the other. With 1: stop main while it has the box, and let the visitor try.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { GIFT = 3 };

static pthread_mutex_t box = PTHREAD_MUTEX_INITIALIZER;
static int coins;

static void *give(void *unused)
{
    (void)unused;
    if (pthread_mutex_trylock(&box) == 0) {
        coins += GIFT;
        pthread_mutex_unlock(&box);
    }
    return NULL;
}

int main(void)
{
    pthread_t visitor;

    pthread_create(&visitor, NULL, give, NULL);
    give(NULL);
    pthread_join(visitor, NULL);
    assert(coins == 2 * GIFT); /* FAILS HERE */
    return 0;
}
