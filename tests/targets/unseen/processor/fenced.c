// Threads announce themselves and then look for each other, with the store made visible before the look in each of the ways
// that compilers know: one of two always sees the other, on any processor.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { WAYS = 3 };

static atomic_int here[WAYS][2];
static int alone[WAYS][2];

static void announce(int way, int me)
{
    switch (way) {
    case 0:
        atomic_store(&here[way][me], 1);
        break;
    case 1:
        atomic_store_explicit(&here[way][me], 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
        break;
    default:
        atomic_store_explicit(&here[way][me], 1, memory_order_relaxed);
        __asm__ volatile("mfence" ::: "memory");
    }
}

static void *enter(void *argument)
{
    int me = *(int *)argument;
    for (int way = 0; way < WAYS; way++) {
        announce(way, me);
        alone[way][me] = atomic_load_explicit(&here[way][1 - me], memory_order_acquire) == 0;
    }
    return NULL;
}

int main(void)
{
    int numbers[2] = { 0, 1 };
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, enter, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int way = 0; way < WAYS; way++)
        assert(!(alone[way][0] && alone[way][1]));
    return 0;
}
