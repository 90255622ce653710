/* Writes 64 MB to its standard output, far more than a pipe holds or anybody wants to read; with an argument, it never
 * stops. */
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

int main(int count_of_arguments, char **arguments)
{
    static char page[1 << 16];
    pthread_t thread;

    (void)arguments;
    memset(page, 'x', sizeof page);
    page[sizeof page - 1] = '\n';
    pthread_create(&thread, NULL, count, NULL);
    for (long i = 0; i < 1024 || count_of_arguments > 1; i++)
        if (write(STDOUT_FILENO, page, sizeof page) < 0)
            break;
    pthread_join(thread, NULL);
    return 0;
}
