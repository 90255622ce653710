/* Two bugs that are both told by exit code 1: an addition gets lost in one of two counters. The words in comments name lines
 * for the tests.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static int first, second;
static atomic_int rounds;

static void *add(void *unused)
{
    /* For more schedules. */
    for (int round = 0; round < 16; round++)
        atomic_fetch_add(&rounds, 1);
    first++;
    second++;
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, add, NULL);
    add(NULL);
    pthread_join(other, NULL);
    if (first != 2)
        return 1; /* FIRST */
    if (second != 2)
        return 1; /* SECOND */
    return 0;
}
