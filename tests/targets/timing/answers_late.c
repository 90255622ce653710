/* A reply takes a second, and nobody waits for it longer than 20 ms: the wait has begun before the replier sleeps, holds the lock
 * or not, so that it always runs out of time. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;

static void wait_for_nothing(void)
{
    struct timespec limit;

    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec += 20000000;
    if (limit.tv_nsec >= 1000000000) {
        limit.tv_nsec -= 1000000000;
        limit.tv_sec++;
    }
    assert(pthread_cond_timedwait(&answered, &mutex, &limit) == ETIMEDOUT);
}

static void *answer_outside(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    sleep(1);
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&answered);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *answer_inside(void *unused)
{
    pthread_mutex_lock(&mutex);
    sleep(1);
    pthread_cond_signal(&answered);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, answer_outside, NULL);
    wait_for_nothing();
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);

    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, answer_inside, NULL);
    wait_for_nothing();
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return 0;
}
