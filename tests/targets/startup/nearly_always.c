/* Fails unless the first thread looks at one moment among hundreds, which takes one preemption. With an argument it is said
 * before there is a second thread, and with two where all schedules are few.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { ROUNDS = 400 };

static atomic_int rounds;

static void *counts(void *unused)
{
    for (int i = 0; i < ROUNDS; i++)
        atomic_fetch_add(&rounds, 1);
    return unused;
}

static void *counts_once(void *unused)
{
    atomic_fetch_add(&rounds, 1);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argv;
    assert(argc != 2);
    pthread_create(&thread, NULL, argc == 3 ? counts_once : counts, NULL);
    int seen = atomic_load(&rounds);
    pthread_join(thread, NULL);
    assert(seen == ROUNDS / 2);
    return 0;
}
