/* A thread that joins itself is told that it cannot. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static void *joins(void *unused)
{
    assert(pthread_join(pthread_self(), NULL) == EDEADLK);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, joins, NULL);
    pthread_join(thread, NULL);
    return 0;
}
