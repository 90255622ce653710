/* A thread waits for input, but not for ever, and fails if none has come. */
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

static void *wait_for_it(void *unused)
{
    struct pollfd files = { .fd = ends[0], .events = POLLIN };

    if (poll(&files, 1, 10) == 0)
        abort(); /* FAILS HERE */
    return unused;
}

int main(void)
{
    pthread_t waiting, feeding;

    if (pipe(ends) != 0)
        return 2;
    pthread_create(&waiting, NULL, wait_for_it, NULL);
    pthread_create(&feeding, NULL, feed, NULL);
    pthread_join(waiting, NULL);
    pthread_join(feeding, NULL);
    return 0;
}
