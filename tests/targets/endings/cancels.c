/* Main cancels a thread that waits for something that never comes. */
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t never_posted;

static void *wait_for_ever(void *unused)
{
    (void)unused;
    sem_wait(&never_posted);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    void *result;

    sem_init(&never_posted, 0, 0);
    pthread_create(&thread, NULL, wait_for_ever, NULL);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result == PTHREAD_CANCELED ? 0 : 1;
}
