/* A signal ends a sleep of two seconds before its time: the sleep says how much was left of it. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static void nothing(int unused)
{
    (void)unused;
}

static void *sleep_long(void *unused)
{
    struct timespec time = { .tv_sec = 2 }, rest = { .tv_sec = 77 };

    if (nanosleep(&time, &rest) == -1) {
        assert(errno == EINTR);
        assert(rest.tv_sec < 2 && rest.tv_sec >= 0 && rest.tv_nsec < 1000000000);
    }
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_handler = nothing };
    pthread_t thread;

    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, sleep_long, NULL);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
    return 0;
}
