/* Each thread counts in a thread-local variable, the last one before the thread's control block; and late, one that another thread was
 * lent loses what its owner adds. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { ROUNDS = 200 };

static __thread volatile long count;
static _Atomic(volatile long *) lent;

static void add(void)
{
    count = count + 1;
}

static void *borrow(void *unused)
{
    for (int round = 0; round < ROUNDS; round++)
        add();
    volatile long *others = lent;
    *others = *others + 1;
    return unused;
}

int main(void)
{
    pthread_t thread;

    for (int round = 0; round < ROUNDS; round++)
        add();
    lent = &count;
    pthread_create(&thread, NULL, borrow, NULL);
    add();
    pthread_join(thread, NULL);
    assert(count == ROUNDS + 2);
    return 0;
}
