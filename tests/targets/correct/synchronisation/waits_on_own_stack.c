/* A thread waits for a flag on its own stack, whose address it has given to another thread: as a lock with a queue has it
 * (J. Mellor-Crummey, M. Scott: Algorithms for scalable synchronization on shared-memory multiprocessors, 1991), or a rendezvous.
 * With YIELDS it gives way between its looks, with PAUSES the processor does. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    _Atomic(struct node *) next;
    atomic_int is_locked;
};

static _Atomic(struct node *) tail;
static int count;

static void rest(void)
{
#ifdef YIELDS
    sched_yield();
#elif defined(PAUSES)
    __builtin_ia32_pause();
#endif
}

static void *add(void *unused)
{
    struct node own = {NULL, 1};
    struct node *before = atomic_exchange(&tail, &own);

    if (before != NULL) {
        atomic_store(&before->next, &own);
        while (atomic_load(&own.is_locked))
            rest();
    }
    count++;
    struct node *expected = &own;
    if (!atomic_compare_exchange_strong(&tail, &expected, NULL)) {
        while (atomic_load(&own.next) == NULL)
            rest();
        atomic_store(&atomic_load(&own.next)->is_locked, 0);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(count == 2);
    return 0;
}
