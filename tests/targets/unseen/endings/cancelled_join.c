/* A thread that holds a mutex waits for another one to end, and is cancelled: where that has not ended yet, the mutex stays locked. With
 * DISABLED the thread cannot be cancelled there. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t helper;

static void *helps(void *unused)
{
    return unused;
}

static void *waits(void *unused)
{
#ifdef DISABLED
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
#endif
    pthread_mutex_lock(&mutex);
    pthread_join(helper, NULL);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t waiter;
    pthread_create(&helper, NULL, helps, NULL);
    pthread_create(&waiter, NULL, waits, NULL);
    pthread_cancel(waiter);
    pthread_join(waiter, NULL);
    assert(pthread_mutex_trylock(&mutex) == 0);
    return 0;
}
