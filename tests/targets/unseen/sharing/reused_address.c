/* Main remembers a number, and the address of the block that it is in, under a lock; later it takes the number for current if the
 * block still is. The other thread puts another block in its place, and the allocator gives that the address of the first one,
 * which has been freed (the ABA problem). With COMPARED main only looks, and does not take the block. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(int *) block;
static int latest;

static void *replaces(void *unused)
{
    pthread_mutex_lock(&mutex);
    free(atomic_load(&block));
    int *next = malloc(sizeof *next);
    latest = *next = 2;
    atomic_store(&block, next);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static int is_current(int *seen)
{
#ifdef COMPARED
    return seen == atomic_load_explicit(&block, memory_order_relaxed);
#else
    return atomic_compare_exchange_strong(&block, &seen, NULL);
#endif
}

int main(void)
{
    pthread_t thread;
    int *first = malloc(sizeof *first);
    latest = *first = 1;
    atomic_store(&block, first);
    pthread_create(&thread, NULL, replaces, NULL);
    pthread_mutex_lock(&mutex);
    int *seen = atomic_load(&block), number = *seen;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    if (is_current(seen))
        assert(number == latest);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return 0;
}
