/* A thread that starts too early computes for ever, without looking at anything that another thread could change. One
 * preemption shows it: main is stopped before it sets `table_size`. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int table_size;

static void *fill_table(void *unused)
{
    int step = atomic_load(&table_size);
    volatile unsigned position = 1;

    while (position != 0)
        position = step == 0 ? position ^ 6 : 0; /* FAILS HERE */
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, fill_table, NULL);
    atomic_store(&table_size, 16);
    pthread_join(thread, NULL);
    return 0;
}
