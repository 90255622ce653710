/* A thread looks whether there is something in a pipe, by poll and by a read that does not wait, and fails if it came in
 * between. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int ends[2];

static void *feed(void *unused)
{
    if (write(ends[1], "a", 1) != 1)
        exit(2);
    return unused;
}

static void *look(void *unused)
{
    struct pollfd files = { .fd = ends[0], .events = POLLIN };
    char byte;
    int was_there = poll(&files, 1, 0);

    if (was_there == 0 && read(ends[0], &byte, 1) == 1)
        abort(); /* FAILS HERE */
    return unused;
}

int main(void)
{
    pthread_t looking, feeding;

    if (pipe2(ends, O_NONBLOCK) != 0)
        return 2;
    pthread_create(&looking, NULL, look, NULL);
    pthread_create(&feeding, NULL, feed, NULL);
    pthread_join(looking, NULL);
    pthread_join(feeding, NULL);
    return 0;
}
