/* Main takes for granted that a thread that has said that it is done has come to its end. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int done;

static void *says_so(void *unused)
{
    atomic_store(&done, 1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, says_so, NULL);
    while (!atomic_load(&done))
        sched_yield();
    assert(pthread_tryjoin_np(thread, NULL) == 0);
    return 0;
}
