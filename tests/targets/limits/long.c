/* Two threads count in turns for a long time: an execution has four events a round, or more. Wrong only in who comes last. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#ifndef ROUNDS
#define ROUNDS 1000
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count, last;

static void *work(void *number)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        count++;
        last = (long)number;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t first, second;

    pthread_create(&first, NULL, work, (void *)1);
    pthread_create(&second, NULL, work, (void *)2);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(count == 2 * ROUNDS);
    assert(last == 2);
    return 0;
}
