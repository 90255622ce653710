/* A call stores what it comes to in memory that another thread reads: the argument says which one. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>

static union {
    volatile long word;
    void *result;
    int number;
    eventfd_t count;
    struct itimerval interval;
    struct itimerspec setting;
} place = { 7 };
static int is_stored;

static void *does_nothing(void *result)
{
    return result;
}

static void *looks(void *unused)
{
    is_stored = place.word != 7;
    return unused;
}

static void *calls(void *which)
{
    pthread_t thread;
    sigset_t signals;
    timer_t timer;
    struct sigevent none = { .sigev_notify = SIGEV_NONE };

    if (strcmp(which, "join") == 0) {
        pthread_create(&thread, NULL, does_nothing, &place);
        pthread_join(thread, &place.result);
    } else if (strcmp(which, "interval") == 0) {
        getitimer(ITIMER_REAL, &place.interval);
    } else if (strcmp(which, "timer") == 0) {
        timer_create(CLOCK_MONOTONIC, &none, &timer);
        timer_gettime(timer, &place.setting);
    } else if (strcmp(which, "file") == 0) {
        timerfd_gettime(timerfd_create(CLOCK_MONOTONIC, 0), &place.setting);
    } else if (strcmp(which, "signal") == 0) {
        sigemptyset(&signals);
        sigaddset(&signals, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &signals, NULL);
        raise(SIGUSR1);
        sigwait(&signals, &place.number);
    } else {
        eventfd_read(eventfd(3, 0), &place.count);
    }
    return NULL;
}

int main(int count, char **words)
{
    pthread_t threads[2];
    assert(count == 2);
    pthread_create(&threads[0], NULL, looks, NULL);
    pthread_create(&threads[1], NULL, calls, words[1]);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert(!is_stored);
    return 0;
}
