/* A profiler's timer runs with the processor, whose time is not that of the virtual clock. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

static void *nothing(void *unused)
{
    return unused;
}

int main(void)
{
    struct itimerval often = { .it_value = { .tv_usec = 1000 }, .it_interval = { .tv_usec = 1000 } };
    pthread_t thread;

    signal(SIGPROF, SIG_IGN);
    setitimer(ITIMER_PROF, &often, NULL);
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    return 0;
}
