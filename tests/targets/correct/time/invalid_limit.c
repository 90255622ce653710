// Time limits with more nanoseconds than a second has are refused: of a mutex where the thread would have to wait, of the
// others at once.

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;

static void *wait_for_all(void *argument)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec = 1000000000;
    int result = pthread_mutex_timedlock(&mutex, &until);
    assert(result == 0 || result == EINVAL);
    if (result == 0)
        pthread_mutex_unlock(&mutex);
    assert(sem_timedwait(&semaphore, &until) == -1 && errno == EINVAL);
    assert(pthread_rwlock_timedrdlock(&lock, &until) == EINVAL);
    pthread_mutex_lock(&own);
    assert(pthread_cond_timedwait(&condition, &own, &until) == EINVAL);
    pthread_mutex_unlock(&own);
    return argument;
}

int main(void)
{
    pthread_t thread;
    sem_init(&semaphore, 0, 0);
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, wait_for_all, NULL);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return 0;
}
