/* Calls end by the time limits of their sockets, whichever descriptor they name, while another thread goes on until all are through. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

static int stream[2], packets[2];
static atomic_int through;

static void limit(int socket, int option)
{
    struct timeval time = { .tv_usec = 10000 };

    assert(setsockopt(socket, SOL_SOCKET, option, &time, sizeof time) == 0);
}

static void ends(ssize_t result)
{
    assert(result == -1 && errno == EAGAIN);
}

/* Looks every 10 ms whether it is to end. */
static void *serve(void *unused)
{
    char byte;

    while (!through)
        ends(recv(stream[0], &byte, 1, 0));
    return unused;
}

static void receive(void)
{
    char byte;
    struct iovec place = { .iov_base = &byte, .iov_len = 1 };
    struct msghdr message = { .msg_iov = &place, .msg_iovlen = 1 };
    struct mmsghdr messages = { .msg_hdr = message };
    int other = dup(stream[1]);

    limit(stream[1], SO_RCVTIMEO);
    ends(read(stream[1], &byte, 1));
    ends(recvmsg(other, &message, 0));
    ends(readv(other, &place, 1));
    ends(recvmmsg(stream[1], &messages, 1, 0, NULL));
    ends(recv(other, &byte, 1, MSG_DONTWAIT));
    close(other);
}

static void connect_nobody(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    assert(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 1) == 0);
    limit(listener, SO_RCVTIMEO);
    ends(accept(listener, NULL, NULL));
    close(listener);
}

static void send_all(void)
{
    limit(packets[0], SO_SNDTIMEO);
    while (send(packets[0], "a", 1, 0) == 1)
        ;
    assert(errno == EAGAIN);
    ends(write(packets[0], "a", 1));
}

int main(void)
{
    pthread_t thread;

    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, stream) == 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, packets) == 0);
    limit(stream[0], SO_RCVTIMEO);
    pthread_create(&thread, NULL, serve, NULL);
    receive();
    connect_nobody();
    send_all();
    through = 1;
    pthread_join(thread, NULL);
    return 0;
}
