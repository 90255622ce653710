/* A thread waits for a message of two bytes, for at most 100 ms. They are sent one by one; with -DHALF the second one is not. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/time.h>

static int ends[2];

static void *receive(void *unused)
{
    char message[2];

    assert(recv(ends[1], message, sizeof message, MSG_WAITALL) == sizeof message);
    return unused;
}

int main(void)
{
    struct timeval limit = { .tv_usec = 100000 };
    pthread_t thread;

    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    assert(setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    pthread_create(&thread, NULL, receive, NULL);
    send(ends[0], "a", 1, 0);
#ifndef HALF
    send(ends[0], "b", 1, 0);
#endif
    pthread_join(thread, NULL);
    return 0;
}
