/* Each thread sets its flag and looks at the other one's, with a mutex between that it holds already: locking that once more only counts,
 * so that the flag may be in the buffer still. With FIRST it does not hold the mutex, and takes it by an indivisible instruction. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutexes[2] = {PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};
static volatile int flags[2], seen[2];

static void *sets(void *argument)
{
    int own = argument != NULL;
#ifndef FIRST
    pthread_mutex_lock(&mutexes[own]);
#endif
    flags[own] = 1;
    pthread_mutex_lock(&mutexes[own]);
    seen[own] = flags[!own];
    pthread_mutex_unlock(&mutexes[own]);
#ifndef FIRST
    pthread_mutex_unlock(&mutexes[own]);
#endif
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sets, &thread);
    sets(NULL);
    pthread_join(thread, NULL);
    assert(seen[0] || seen[1]);
    return 0;
}
