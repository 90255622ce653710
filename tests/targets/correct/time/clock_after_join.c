// What is read of the clock after a thread has ended is not earlier than what that thread has read.

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

static struct timespec before;

static void *read_late(void *argument)
{
    for (int i = 0; i < 10; i++)
        sched_yield();
    clock_gettime(CLOCK_REALTIME, &before);
    return argument;
}

int main(void)
{
    pthread_t thread;
    struct timespec after;
    pthread_create(&thread, NULL, read_late, NULL);
    pthread_join(thread, NULL);
    clock_gettime(CLOCK_REALTIME, &after);
    assert(after.tv_sec > before.tv_sec || (after.tv_sec == before.tv_sec && after.tv_nsec >= before.tv_nsec));
    return 0;
}
