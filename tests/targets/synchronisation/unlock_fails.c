/* Threads unlock mutexes that others hold, or nobody, and wait with them, of types whose unlock says so. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

static const int types[] = { PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK };
static pthread_mutex_t mutexes[3];
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int count;

static void *add(void *unused)
{
    for (int i = 0; i < 3; i++)
        assert(pthread_mutex_unlock(&mutexes[i]) == EPERM);
    assert(pthread_cond_wait(&condition, &mutexes[2]) == EPERM);
    assert(pthread_mutex_lock(&mutexes[2]) == 0);
    assert(pthread_mutex_lock(&mutexes[2]) == EDEADLK);
    assert(pthread_mutex_unlock(&mutexes[2]) == 0);
    pthread_mutex_lock(&mutexes[0]);
    count++;
    pthread_mutex_unlock(&mutexes[0]);
    return unused;
}

int main(void)
{
    pthread_t thread;

    for (int i = 0; i < 3; i++) {
        pthread_mutexattr_t type;
        pthread_mutexattr_init(&type);
        pthread_mutexattr_settype(&type, types[i]);
        pthread_mutex_init(&mutexes[i], &type);
    }
    pthread_create(&thread, NULL, add, NULL);
    pthread_mutex_lock(&mutexes[0]);
    assert(pthread_mutex_lock(&mutexes[0]) == EDEADLK);
    count++;
    pthread_mutex_unlock(&mutexes[0]);
    pthread_join(thread, NULL);
    assert(count == 2);
    return 0;
}
