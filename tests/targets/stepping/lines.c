/* Stepped through line by line: a private variable that changes between two key points, a loop of two lines, a call, and
 * an update of a shared counter that gets lost. The words in comments name lines for the tests.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

static int shared;
static int results[2];

static __attribute__((noinline)) int twice(int value)
{
    int doubled = value + value; /* in twice */
    return doubled; /* out of twice */
} /* end of twice */

static void *worker(void *result)
{
    int local = 1; /* begin */
    for (int i = 0; i < 2; i++) /* loop */
        local = local * 10 + i; /* body */
    int seen = shared; /* read */
    local = twice(local); /* call */
    shared = seen + 1; /* write */
    *(int *)result = local; /* keep */
    return NULL; /* end */
} /* end of worker */

int main(void)
{
    pthread_t first, second;

    puts("one"); /* one */
    fflush(stdout); /* flush */
    pthread_create(&first, NULL, worker, &results[0]); /* create first */
    pthread_create(&second, NULL, worker, &results[1]); /* create second */
    pthread_join(first, NULL); /* join first */
    puts("two"); /* two */
    fflush(stdout); /* flush again */
    pthread_join(second, NULL); /* join second */
    assert(shared == 2); /* FAILS HERE */
    return 0;
}
