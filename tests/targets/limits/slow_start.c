/* A lock is taken for so long, before there is a second thread, that no execution ends in the time of a test. */
#include <pthread.h>
#include <stddef.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *nothing(void *unused)
{
    return unused;
}

int main(void)
{
    pthread_t thread;
    for (long round = 0; round < 100000000; round++) {
        pthread_rwlock_rdlock(&lock);
        pthread_rwlock_unlock(&lock);
    }
    pthread_create(&thread, NULL, nothing, NULL);
    return pthread_join(thread, NULL);
}
