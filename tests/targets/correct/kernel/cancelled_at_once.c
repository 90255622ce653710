/* A thread that allows its cancellation anywhere is cancelled wherever it is: before its call, or in it. With SEMAPHORE the call
 * waits for what never comes, else it sleeps. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <unistd.h>

static sem_t never;
static int is_over;

static void *wait_for_long(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
#ifdef SEMAPHORE
    sem_wait(&never);
#else
    sleep(10);
#endif
    is_over = 1;
    return unused;
}

int main(void)
{
    pthread_t thread;

    sem_init(&never, 0, 0);
    pthread_create(&thread, NULL, wait_for_long, NULL);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    assert(!is_over);
    return 0;
}
