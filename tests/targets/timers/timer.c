/* A timer ends the wait of a thread. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

static sem_t ticked;

static void on_tick(int number)
{
    (void)number;
    sem_post(&ticked);
}

static void *wait_for_tick(void *unused)
{
    (void)unused;
    while (sem_wait(&ticked) != 0)
        ;
    return NULL;
}

int main(void)
{
    struct sigaction action = { .sa_handler = on_tick };
    struct sigevent tick = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
    struct itimerspec soon = { .it_value = { .tv_nsec = 10000000 } };
    pthread_t thread;
    timer_t timer;

    sem_init(&ticked, 0, 0);
    sigaction(SIGALRM, &action, NULL);
    pthread_create(&thread, NULL, wait_for_tick, NULL);
    if (timer_create(CLOCK_MONOTONIC, &tick, &timer) != 0 || timer_settime(timer, 0, &soon, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    return 0;
}
