// A mutex and a condition variable on the stack of the thread that uses them: a wait for a signal runs out of time, and the mutex, taken again
// and released, can be destroyed.

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static void *wait_in_vain(void *argument)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t signalled = PTHREAD_COND_INITIALIZER;
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 1;
    pthread_mutex_lock(&mutex);
    assert(pthread_cond_timedwait(&signalled, &mutex, &limit) == ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
    assert(pthread_mutex_destroy(&mutex) == 0);
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, wait_in_vain, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
