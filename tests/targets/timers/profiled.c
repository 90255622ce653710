/* A profiler's timer goes on ticking beside two threads; with -DINVERTED they wait for each other's lock. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t samples;

static void sample(int number)
{
    (void)number;
    samples++;
}

static void *work(void *unused)
{
#ifdef INVERTED
    pthread_mutex_lock(&second);
    pthread_mutex_lock(&first);
#else
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
#endif
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_handler = sample, .sa_flags = SA_RESTART };
    struct itimerval often = { .it_value = { .tv_usec = 200000 }, .it_interval = { .tv_usec = 200000 } };
    struct itimerval never = { .it_value = { .tv_usec = 0 } };
    pthread_t thread;

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    pthread_create(&thread, NULL, work, NULL);
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
    pthread_join(thread, NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    return 0;
}
