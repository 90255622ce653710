/* Counters that are atomic one by one are copied as a whole: the copy has the later one and not the earlier one. What the line of
 * the copy says of its order changes nothing. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define KEEPS_ORDER() atomic_signal_fence(memory_order_seq_cst)

struct counters {
    atomic_long all;
    atomic_long others[38];
    atomic_long some;
};

static struct counters counters, copy;

static void *counts(void *unused)
{
    atomic_fetch_add(&counters.all, 1);
    atomic_fetch_add(&counters.some, 1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, counts, NULL);
    copy = counters; KEEPS_ORDER();
    assert(copy.some <= copy.all);
    pthread_join(thread, NULL);
    return 0;
}
