/* Two ticket counters that share one total, with a home-made spin lock.
 *
 * Right: the flag is tested and set in one operation, so only one thread can find it free.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_bool taken;
static int tickets_sold;

static void lock(void)
{
    while (atomic_exchange(&taken, true))
        ;
}

static void unlock(void)
{
    atomic_store(&taken, false);
}

static void *sell(void *unused)
{
    (void)unused;
    lock();
    tickets_sold++;
    unlock();
    return NULL;
}

int main(void)
{
    pthread_t left, right;

    pthread_create(&left, NULL, sell, NULL);
    pthread_create(&right, NULL, sell, NULL);
    pthread_join(left, NULL);
    pthread_join(right, NULL);
    if (tickets_sold != 2) {
        fprintf(stderr, "two tickets sold, %d counted\n", tickets_sold);
        exit(EXIT_FAILURE);
    }
    return 0;
}
