/* Main leaves; the others wait for each other in several ways: with a time limit, by spinning, for input, for main's end. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t leader;
static int ready;
static atomic_int flag;
static int ends[2];

static void *wait_for_it(void *unused)
{
    struct timespec limit;
    char byte = 0;
    int result = 0;

    pthread_join(leader, NULL);
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 100;
    pthread_mutex_lock(&mutex);
    while (!ready && result == 0)
        result = pthread_cond_timedwait(&changed, &mutex, &limit);
    pthread_mutex_unlock(&mutex);
    while (!atomic_load(&flag))
        ;
    assert(read(ends[0], &byte, 1) == 1);
    return unused;
}

static void *provide(void *unused)
{
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    atomic_store(&flag, 1);
    assert(write(ends[1], "x", 1) == 1);
    return unused;
}

int main(void)
{
    pthread_t thread;

    leader = pthread_self();
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&thread, NULL, wait_for_it, NULL);
    pthread_create(&thread, NULL, provide, NULL);
    pthread_exit(NULL);
}
