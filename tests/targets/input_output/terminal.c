/* A thread reads from a terminal at which nobody types. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static void *ask(void *terminal)
{
    char answer;

    return read(*(int *)terminal, &answer, 1) == 1 ? terminal : NULL;
}

int main(void)
{
    pthread_t thread;
    int desk = posix_openpt(O_RDWR | O_NOCTTY);

    if (desk < 0 || grantpt(desk) != 0 || unlockpt(desk) != 0)
        return 0;
    int terminal = open(ptsname(desk), O_RDWR | O_NOCTTY);
    pthread_create(&thread, NULL, ask, &terminal);
    pthread_join(thread, NULL);
    return 0;
}
