// A spin lock is released by a plain store, which may still be in the buffer while its thread looks at what the other one has
// written: both see nothing. A mutex is released by an indivisible instruction (-DMUTEX): one of them sees the other.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifdef MUTEX
typedef pthread_mutex_t Lock;
#define take pthread_mutex_lock
#define give pthread_mutex_unlock
static Lock locks[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
#else
typedef pthread_spinlock_t Lock;
#define take pthread_spin_lock
#define give pthread_spin_unlock
static Lock locks[2];
#endif

static atomic_int here[2];
static int alone[2];

static void *enter(void *argument)
{
    int me = *(int *)argument;
    take(&locks[me]);
    atomic_store_explicit(&here[me], 1, memory_order_relaxed);
    give(&locks[me]);
    alone[me] = atomic_load_explicit(&here[1 - me], memory_order_relaxed) == 0;
    return NULL;
}

int main(void)
{
#ifndef MUTEX
    for (int i = 0; i < 2; i++)
        pthread_spin_init(&locks[i], PTHREAD_PROCESS_PRIVATE);
#endif
    int numbers[2] = { 0, 1 };
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, enter, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(!(alone[0] && alone[1]));
    return 0;
}
