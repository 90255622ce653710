/* A timer of an absolute time sends its signal to a thread that waits for that; a second timer is deleted before it expires. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static sigset_t awaited;

static void *wait(void *unused)
{
    siginfo_t told;

    if (sigwaitinfo(&awaited, &told) != SIGRTMIN || told.si_code != SI_TIMER || told.si_value.sival_int != 77)
        return NULL;
    return unused;
}

int main(void)
{
    struct sigevent signals = { .sigev_notify = SIGEV_SIGNAL };
    struct itimerspec at = { .it_value = { .tv_sec = 0 } }, left;
    timer_t timer, other;
    pthread_t thread;
    void *result;

    signals.sigev_signo = SIGRTMIN;
    signals.sigev_value.sival_int = 77;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &awaited, NULL);
    pthread_create(&thread, NULL, wait, &awaited);
    clock_gettime(CLOCK_REALTIME, &at.it_value);
    at.it_value.tv_sec += 5;
    if (timer_create(CLOCK_REALTIME, &signals, &timer) != 0 || timer_create(CLOCK_MONOTONIC, NULL, &other) != 0)
        return 1;
    timer_settime(timer, TIMER_ABSTIME, &at, NULL);
    if (timer_gettime(timer, &left) != 0 || left.it_value.tv_sec != 4)
        return 2;
    left.it_interval.tv_sec = left.it_value.tv_sec = 1;
    timer_settime(other, 0, &left, NULL);
    if (timer_delete(other) != 0 || timer_delete(other) != -1)
        return 3;
    pthread_join(thread, &result);
    sleep(3);
    return result == &awaited && timer_getoverrun(timer) == 0 ? 0 : 4;
}
