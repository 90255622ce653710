/* A worker polls a flag 2,000 times, and gives up then; main takes for granted that it has. It does if it is left alone for long
 * enough, so that the program fails in many schedules, and not in all of them. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int stop;
static int given_up;

static void *poll(void *unused)
{
    for (int round = 0; round < 2000; round++)
        if (atomic_load(&stop))
            return unused;
    given_up = 1;
    return unused;
}

static void *ask(void *unused)
{
    atomic_store(&stop, 1);
    return unused;
}

int main(void)
{
    pthread_t polling, asking;

    pthread_create(&polling, NULL, poll, NULL);
    pthread_create(&asking, NULL, ask, NULL);
    pthread_join(polling, NULL);
    pthread_join(asking, NULL);
    assert(given_up);
    return 0;
}
