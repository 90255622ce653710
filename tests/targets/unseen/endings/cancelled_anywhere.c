/* A thread that may be cancelled at any instruction is cancelled between two additions. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static volatile int debit, credit;
static atomic_int ready;

static void *moves_money(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    atomic_store(&ready, 1);
    debit++;
    credit++;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, moves_money, NULL);
    if (atomic_load(&ready))
        pthread_cancel(thread);
    pthread_join(thread, NULL);
    assert(debit == credit);
    return 0;
}
