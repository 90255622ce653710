/* A thread that waits for all connections at once (epoll), reads what comes, and has another thread answer. The listening socket
   is level-triggered, connections are edge-triggered unless -DLEVEL, and none of them blocks. A connection that was closed
   is closed by both threads with -DTWICE: what is closed the second time may be another one by then. */
#define _GNU_SOURCE
#include "client.h"

#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>

#ifdef LEVEL
enum { HOW = EPOLLIN };
#else
enum { HOW = EPOLLIN | EPOLLET };
#endif

static int pipe_ends[2];

static void *answers(void *nothing)
{
    int connection;
    while (read(pipe_ends[0], &connection, sizeof connection) == sizeof connection) {
        checked((int)write(connection, "k", 1), "write");
#ifdef TWICE
        close(connection);
#endif
    }
    return nothing;
}

static void watch(int set, int descriptor, int how)
{
    struct epoll_event event = {.events = how, .data.fd = descriptor};
    checked(epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
}

static void serve(int connection)
{
    char byte;
    for (;;) {
        ssize_t got = read(connection, &byte, 1);
        if (got == 1) {
            checked((int)write(pipe_ends[1], &connection, sizeof connection), "write");
        } else {
            if (got == 0)
                close(connection);
            return;
        }
    }
}

int main(void)
{
    pthread_t thread;
    int listener = listening();
    int set = checked(epoll_create1(0), "epoll_create1");
    checked(pipe(pipe_ends), "pipe");
    pthread_create(&thread, NULL, answers, NULL);
    watch(set, listener, EPOLLIN);
    for (;;) {
        struct epoll_event events[4];
        int ready = checked(epoll_wait(set, events, 4, -1), "epoll_wait");
        for (int i = 0; i < ready; i++) {
            if (events[i].data.fd == listener)
                watch(set, checked(accept4(listener, NULL, NULL, SOCK_NONBLOCK), "accept4"), HOW);
            else
                serve(events[i].data.fd);
        }
    }
}
