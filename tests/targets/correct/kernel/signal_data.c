/* A signal carries a number, and tells which process has sent it, wherever its thread is when it comes. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

enum { NUMBER = 42 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;
static atomic_int is_wrong, has_come;

static void handle(int signal, siginfo_t *info, void *unused)
{
    (void)unused;
    if (signal != SIGUSR1 || info->si_code != SI_QUEUE || info->si_value.sival_int != NUMBER ||
        info->si_pid != getpid())
        is_wrong = 1;
    has_come = 1;
}

static void *work(void *unused)
{
    for (int round = 0; round < 2; round++) {
        pthread_mutex_lock(&mutex);
        count++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    union sigval value = {.sival_int = NUMBER};

    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, work, NULL);
    pthread_sigqueue(thread, SIGUSR1, value);
    work(NULL);
    pthread_join(thread, NULL);
    return is_wrong;
}
