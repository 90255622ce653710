/* Writes 40 MB to the file that it is told, or to its standard output, and fails if that could not be written. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_int written;

static void *watch(void *unused)
{
    (void)atomic_load(&written);
    return unused;
}

int main(int count, char **arguments)
{
    static char page[1 << 16];
    FILE *file = count > 1 ? fopen(arguments[1], "w") : stdout;
    pthread_t thread;

    assert(file != NULL);
    memset(page, 'x', sizeof page);
    pthread_create(&thread, NULL, watch, NULL);
    for (int i = 0; i < 640; i++)
        assert(fwrite(page, sizeof page, 1, file) == 1);
    assert(fflush(file) == 0);
    atomic_store(&written, 1);
    pthread_join(thread, NULL);
    return 0;
}
