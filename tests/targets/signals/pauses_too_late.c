/* A thread looks whether the signal has come, and pauses if not: one that comes in between is waited for in vain. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void handle(int number)
{
    handled = number;
}

static void *receive(void *unused)
{
    if (!handled)
        pause();
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_handler = handle };
    pthread_t receiver;

    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&receiver, NULL, receive, NULL);
    pthread_kill(receiver, SIGUSR1);
    pthread_join(receiver, NULL);
    return 0;
}
