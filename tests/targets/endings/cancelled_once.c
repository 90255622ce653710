/* Main cancels a thread that sleeps once, and then comes to a cancellation point that does not wait. */
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static void *start(void *unused)
{
    usleep(1);
    fsync(-1);
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, start, NULL);
    pthread_cancel(thread);
    return pthread_join(thread, NULL);
}
