/* A thread takes signals by sigwait and by sigtimedwait, and lets another one in by sigsuspend: nothing is lost. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

static volatile sig_atomic_t handled;

static void handle(int number)
{
    handled = number;
}

static void *receive(void *unused)
{
    sigset_t set, without;
    int taken;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    assert(sigwait(&set, &taken) == 0 && taken == SIGUSR1);

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    assert(sigtimedwait(&set, NULL, &(struct timespec){ 0 }) == -1 || !"it has not been sent yet");

    pthread_sigmask(SIG_BLOCK, NULL, &without);
    sigdelset(&without, SIGUSR2);
    while (!handled)
        sigsuspend(&without);
    assert(handled == SIGUSR2);
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_handler = handle };
    pthread_t receiver;
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    sigaction(SIGUSR2, &action, NULL);
    pthread_create(&receiver, NULL, receive, NULL);
    pthread_kill(receiver, SIGUSR1);
    pthread_kill(receiver, SIGUSR2);
    pthread_join(receiver, NULL);
    return 0;
}
