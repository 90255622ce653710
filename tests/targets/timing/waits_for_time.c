/* Main waits, busily, until a second is over or a thread has done its work. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

static atomic_int done;

static void *work(void *unused)
{
    atomic_store(&done, 1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    struct timespec start, now;

    pthread_create(&thread, NULL, work, NULL);
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - start.tv_sec < 1 && !done);
    pthread_join(thread, NULL);
    return 0;
}
