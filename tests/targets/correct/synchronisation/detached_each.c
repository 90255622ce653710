/* Two threads start one each and let it go. Where the first of these has ended, the second one has its stack, and its handle. */
#include <assert.h>
#include <pthread.h>

static void *nothing(void *unused)
{
    return unused;
}

static void *start_one(void *unused)
{
    pthread_t started;
    assert(pthread_create(&started, NULL, nothing, NULL) == 0);
    assert(pthread_detach(started) == 0);
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, start_one, NULL);
    start_one(NULL);
    pthread_join(other, NULL);
    return 0;
}
