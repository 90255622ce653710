/* A bakery bakes two cakes: main waits for one and eats it, a taster takes one if there is one.
 *
 * Right: main looks again when it is woken, and waits again where the cake is gone.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { CAKES = 2 };

static pthread_mutex_t counter = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cake_is_ready = PTHREAD_COND_INITIALIZER;
static int cakes;

static void *taste(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&counter);
    if (cakes > 0)
        cakes--;
    pthread_mutex_unlock(&counter);
    return NULL;
}

static void *bake(void *unused)
{
    (void)unused;
    for (int i = 0; i < CAKES; i++) {
        pthread_mutex_lock(&counter);
        cakes++;
        pthread_cond_signal(&cake_is_ready);
        pthread_mutex_unlock(&counter);
    }
    return NULL;
}

int main(void)
{
    pthread_t taster, bakery;

    pthread_create(&taster, NULL, taste, NULL);
    pthread_create(&bakery, NULL, bake, NULL);
    pthread_mutex_lock(&counter);
    while (cakes == 0)
        pthread_cond_wait(&cake_is_ready, &counter);
    assert(cakes > 0);
    cakes--;
    pthread_mutex_unlock(&counter);
    pthread_join(taster, NULL);
    pthread_join(bakery, NULL);
    return 0;
}
