/* A signal that nobody handles ends the program, also where the thread that gets it waits. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>

static sem_t never_posted;

static void *wait_for_ever(void *unused)
{
    sem_wait(&never_posted);
    return unused;
}

int main(void)
{
    pthread_t waiter;

    sem_init(&never_posted, 0, 0);
    pthread_create(&waiter, NULL, wait_for_ever, NULL);
    pthread_kill(waiter, SIGTERM);
    pthread_join(waiter, NULL);
    return 0;
}
