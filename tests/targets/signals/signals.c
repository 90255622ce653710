/* Main sends a signal to a thread that waits for its effect; the handler does what the thread waits for. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>

static sem_t woken;

static void on_signal(int number)
{
    (void)number;
    sem_post(&woken);
}

static void *sleeper(void *unused)
{
    (void)unused;
    while (sem_wait(&woken) != 0)
        ;
    return NULL;
}

int main(void)
{
    struct sigaction action = { .sa_handler = on_signal };
    pthread_t thread;

    sem_init(&woken, 0, 0);
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, sleeper, NULL);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
    return 0;
}
