/* What seldom runs is moved away from the rest of its function by optimising compilers: a failing branch, for instance. The
 * words in comments name lines for the tests.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static int shared;

static void *worker(void *unused)
{
    int seen = shared;
    shared = seen + 1;
    return unused;
}

__attribute__((cold, noinline)) static void report(int value)
{
    fprintf(stderr, "bad %d\n", value);
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, worker, NULL);
    int seen = shared; /* read */
    shared = seen + 10; /* write */
    pthread_join(other, NULL); /* join */
    if (shared != 11) { /* check */
        report(shared); /* report */
        report(shared + 1); /* report more */
        abort(); /* FAILS HERE */
    }
    return 0;
}
