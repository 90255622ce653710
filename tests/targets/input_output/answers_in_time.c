/* A thread waits at a socket for an answer that takes 50 ms, for as long as the socket says: 5 s, or with -DSHORT 10 ms, which is not
 * enough. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int ends[2];

static void *answer(void *unused)
{
    usleep(50000);
    assert(write(ends[0], "a", 1) == 1);
    return unused;
}

int main(void)
{
#ifdef SHORT
    struct timeval limit = { .tv_usec = 10000 };
#else
    struct timeval limit = { .tv_sec = 5 };
#endif
    pthread_t thread;
    char byte;
    ssize_t got;

    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    assert(setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    pthread_create(&thread, NULL, answer, NULL);
    got = read(ends[1], &byte, 1);
    if (got != 1)
        assert(errno == EAGAIN);
    pthread_join(thread, NULL);
    return got != 1;
}
