/* A thread ends without unlocking two robust mutexes, which main takes one after the other. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t first, second;

static void *end_as_owner(void *unused)
{
    assert(pthread_mutex_lock(&first) == 0);
    assert(pthread_mutex_lock(&second) == 0);
    return unused;
}

static void take(pthread_mutex_t *lock)
{
    int error = pthread_mutex_lock(lock);

    assert(error == 0 || error == EOWNERDEAD);
    if (error == EOWNERDEAD)
        assert(pthread_mutex_consistent(lock) == 0);
    assert(pthread_mutex_unlock(lock) == 0);
}

int main(void)
{
    pthread_mutexattr_t kind;
    pthread_t owner;

    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&first, &kind);
    pthread_mutex_init(&second, &kind);
    pthread_create(&owner, NULL, end_as_owner, NULL);
    take(&second);
    take(&first);
    return pthread_join(owner, NULL);
}
