/* A thread waits by the processor's time stamps: for a time, or, with LOOKS, for work, and sleeps where that takes long, as threads of
 * libraries do that have nothing to do. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <x86intrin.h>

enum { LONG = 300 * 1000 * 1000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int work;
static int done;

static int is_awaited(void)
{
#ifdef LOOKS
    return !work;
#else
    return 1;
#endif
}

static void *works(void *unused)
{
    uint64_t end = __rdtsc() + LONG;
    while (is_awaited() && __rdtsc() < end)
        _mm_pause();
    pthread_mutex_lock(&lock);
    while (!work)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    done = 1;
    return unused;
}

int main(void)
{
    pthread_t worker;
    pthread_create(&worker, NULL, works, NULL);
    pthread_mutex_lock(&lock);
    work = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    assert(done);
    return 0;
}
