/* Two threads add to a total, so often that the first one has long been alone with it when the second one begins. */
#include <assert.h>
#include <pthread.h>

enum { ROUNDS = 300 };

static volatile int total;

static void *adds_much(void *unused)
{
    for (int i = 0; i < ROUNDS; i++)
        total++;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, adds_much, NULL);
    adds_much(NULL);
    pthread_join(thread, NULL);
    assert(total == 2 * ROUNDS);
    return 0;
}
