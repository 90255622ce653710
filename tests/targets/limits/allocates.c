/* Allocates until there is nothing more, and then fails. It touches one page of each block, so that it harms nobody, and
 * it gives up at 512 GB, as a success, if nothing bounds it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int started;

static void *start(void *unused)
{
    (void)unused;
    atomic_fetch_add(&started, 1);
    return NULL;
}

int main(void)
{
    const size_t block = (size_t)64 << 20;
    pthread_t thread;

    pthread_create(&thread, NULL, start, NULL);
    for (int i = 0; i < 8192; i++) {
        volatile char *memory = malloc(block);
        if (memory == NULL) {
            fprintf(stderr, "out of memory after %d blocks\n", i);
            exit(EXIT_FAILURE);
        }
        memory[0] = 1;
    }
    pthread_join(thread, NULL);
    return 0;
}
