/* A timer calls a function, on a thread that the C library makes. With -DRACY that adds without a lock. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t called;
static volatile int count;

static void add(void)
{
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    count++;
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
}

static void on_expiry(union sigval value)
{
    if (value.sival_int != 7)
        abort();
    add();
    sem_post(&called);
}

int main(void)
{
    struct sigevent calls = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_expiry };
    struct itimerspec soon = { .it_value = { .tv_nsec = 60000 } };
    timer_t timer;

    calls.sigev_value.sival_int = 7;
    sem_init(&called, 0, 0);
    if (timer_create(CLOCK_MONOTONIC, &calls, &timer) != 0 || timer_settime(timer, 0, &soon, NULL) != 0)
        return 1;
    add();
    sem_wait(&called);
    if (count != 2)
        abort();
    return timer_delete(timer);
}
