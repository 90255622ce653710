/* A thread computes until the handler of an alarm stops it, and another one reads a pipe until the alarm interrupts that. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t rang;
static int ends[2];

static void ring(int number)
{
    (void)number;
    rang++;
}

static void *nothing(void *unused)
{
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_handler = ring };
    pthread_t thread;
    char byte;

    if (pipe(ends) != 0)
        return 1;
    sigaction(SIGALRM, &action, NULL);
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    if (alarm(2) != 0 || alarm(1) != 2)
        return 2;
    while (!rang)
        ;
    alarm(1);
    if (read(ends[0], &byte, 1) != -1 || errno != EINTR || rang != 2)
        return 3;
    alarm(1);
    if (alarm(0) != 1 || sleep(3) != 0 || rang != 2)
        return 4;
    return 0;
}
