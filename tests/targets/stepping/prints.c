/* Prints into the buffer of the C library, which is never written: the program aborts where an update got lost. The words in
 * comments name lines for the tests.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static int shared;

static void *worker(void *unused)
{
    int seen = shared; /* read */
    printf("seen %d\n", seen); /* print */
    shared = seen + 1; /* write */
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, worker, NULL);
    pthread_create(&second, NULL, worker, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL); /* join second */
    int total = shared; /* total */
    if (total != 2)
        abort(); /* FAILS HERE */
    return 0;
}
