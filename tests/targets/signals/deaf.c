/* Ignores every signal that a program can ignore, and then computes for ever in two threads. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int turns;

static void *turn(void *unused)
{
    volatile unsigned position = 1;

    atomic_fetch_add(&turns, 1);
    while (position != 0)
        position = position * 5 | 1;
    return unused;
}

int main(void)
{
    pthread_t thread;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_IGN);
    pthread_create(&thread, NULL, turn, NULL);
    turn(NULL);
    pthread_join(thread, NULL);
    return 0;
}
