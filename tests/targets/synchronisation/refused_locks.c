/* Threads ask for read-write locks that they have for writing: they are refused, not kept waiting. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>

static pthread_rwlock_t locks[] = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP};
static int written;

static void *writes(void *unused)
{
    const struct timespec limit = {0x7fffffff, 0};

    for (int i = 0; i < 2; i++) {
        assert(pthread_rwlock_wrlock(&locks[i]) == 0);
        assert(pthread_rwlock_wrlock(&locks[i]) == EDEADLK);
        assert(pthread_rwlock_rdlock(&locks[i]) == EDEADLK);
        assert(pthread_rwlock_timedwrlock(&locks[i], &limit) == EDEADLK);
        assert(pthread_rwlock_timedrdlock(&locks[i], &limit) == EDEADLK);
        written++;
        assert(pthread_rwlock_unlock(&locks[i]) == 0);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, writes, NULL);
    pthread_rwlock_rdlock(&locks[0]);
    pthread_rwlock_unlock(&locks[0]);
    writes(NULL);
    pthread_join(thread, NULL);
    return 0;
}
