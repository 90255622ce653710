/* Writes 64 MB to its standard output, far more than a pipe holds or anybody wants to read. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static atomic_int rounds;

static void *count(void *unused)
{
    (void)unused;
    atomic_fetch_add(&rounds, 1);
    return NULL;
}

int main(void)
{
    static char page[1 << 16];
    pthread_t thread;

    memset(page, 'x', sizeof page);
    page[sizeof page - 1] = '\n';
    pthread_create(&thread, NULL, count, NULL);
    for (int i = 0; i < 1024; i++)
        if (write(STDOUT_FILENO, page, sizeof page) < 0)
            break;
    pthread_join(thread, NULL);
    return 0;
}
