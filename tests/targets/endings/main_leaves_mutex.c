/* Main leaves with a robust mutex, which another thread inherits. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex;

static void *inherit(void *unused)
{
    assert(pthread_mutex_lock(&mutex) == EOWNERDEAD);
    pthread_mutex_consistent(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_mutexattr_t robust;
    pthread_t thread;

    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &robust);
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, inherit, NULL);
    pthread_exit(NULL);
}
