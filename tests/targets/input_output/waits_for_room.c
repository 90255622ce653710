/* Two threads send to a socket from which nobody reads, for 10 ms each time; with -DENDLESS for as long as it takes. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/time.h>

static int ends[2];

static void *send_all(void *unused)
{
    while (send(ends[0], "a", 1, 0) == 1)
        ;
    assert(errno == EAGAIN);
    return unused;
}

int main(void)
{
    pthread_t thread;
#ifndef ENDLESS
    struct timeval limit = { .tv_usec = 10000 };
#endif

    assert(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
    while (send(ends[0], "a", 1, MSG_DONTWAIT) == 1)
        ;
#ifndef ENDLESS
    assert(setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0);
#endif
    pthread_create(&thread, NULL, send_all, NULL);
    send_all(NULL);
    pthread_join(thread, NULL);
    return 0;
}
