/* Two ticket counters that share one total, with a home-made spin lock.
 *
 * Wrong (spin flag): testing the flag and setting it are two operations, so both threads can find it free.
 * Finding: exit-code (1, a sale is lost), in main.
 * Preemptions: 2. The second thread must test the flag before the first one has set it, so one of them is stopped between
 * its test and its set: one. And the other must be stopped after it has read the total, or it will have left again: two.
 * Its flag is set then, but the first one has passed its test. A thread that spins is blocked, and so leaving it is free.
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
    while (atomic_load(&taken))
        ;
    atomic_store(&taken, true);
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
        exit(EXIT_FAILURE); /* FAILS HERE */
    }
    return 0;
}
