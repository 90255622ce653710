/* A thread that starts too early goes round through memory of its own, and never finds what it looks for. Each round reads
 * somewhere else, so that it is no flag that it waits for. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int ready;

static void *find(void *unused)
{
    int *table = calloc(4096, sizeof *table);
    unsigned at = 0;

    table[17] = atomic_load(&ready);
    while (table[at++ % 4096] == 0) /* FAILS HERE */
        ;
    free(table);
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, find, NULL);
    atomic_store(&ready, 1);
    pthread_join(thread, NULL);
    return 0;
}
