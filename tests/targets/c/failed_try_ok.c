/* A donation box: main and a visitor give three coins each.
 *
 * Right: who finds the box locked waits for it.
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
    if (pthread_mutex_trylock(&box) != 0)
        pthread_mutex_lock(&box);
    coins += GIFT;
    pthread_mutex_unlock(&box);
    return NULL;
}

int main(void)
{
    pthread_t visitor;

    pthread_create(&visitor, NULL, give, NULL);
    give(NULL);
    pthread_join(visitor, NULL);
    assert(coins == 2 * GIFT);
    return 0;
}
