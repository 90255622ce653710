/* Two threads add to a total without a lock, so often that a schedule in which they lose something is long. */
#include <assert.h>
#include <pthread.h>

enum { ROUNDS = 2000 };

static volatile int total;

static void *adds(void *unused)
{
    for (int i = 0; i < ROUNDS; i++)
        total++;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, adds, NULL);
    adds(NULL);
    pthread_join(thread, NULL);
    assert(total == 2 * ROUNDS);
    return 0;
}
