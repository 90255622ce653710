// A server without a client: a thread waits for connections, and another one for work. Nothing is wrong with it. With -DEPOLL it
// waits for a set of descriptors, one of which listens, and with -DDATAGRAMS for datagrams. With -DTICKS its other thread counts seconds, with -DPOLLS it
// waits for a time again and again, and neither has an end. With -DCYCLE two workers take two locks in opposite orders: that is a
// deadlock, whatever comes.

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_work = PTHREAD_COND_INITIALIZER;
static int connection = -1;

static void *work(void *argument)
{
    for (;;) {
        pthread_mutex_lock(&mutex);
        while (connection < 0)
            pthread_cond_wait(&has_work, &mutex);
        close(connection);
        connection = -1;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

static void *ticks(void *argument)
{
    static long seconds;
    for (;;) {
        pthread_mutex_lock(&mutex);
        seconds++;
        pthread_mutex_unlock(&mutex);
        sleep(1);
    }
    return argument;
}

static void *polls(void *argument)
{
    for (;;)
        poll(NULL, 0, 100);
    return argument;
}

static void *first(void *argument)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&other);
    pthread_mutex_unlock(&other);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void *second(void *argument)
{
    pthread_mutex_lock(&other);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_unlock(&other);
    return argument;
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
#ifdef DATAGRAMS
    int server = socket(AF_INET, SOCK_DGRAM, 0);
#else
    int server = socket(AF_INET, SOCK_STREAM, 0);
#endif
    if (bind(server, (struct sockaddr *)&address, sizeof address) != 0)
        return 3;
#ifndef DATAGRAMS
    if (listen(server, 8) != 0)
        return 3;
#endif
    pthread_t threads[2];
#ifdef CYCLE
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
#elif defined TICKS
    pthread_create(&threads[0], NULL, ticks, NULL);
#elif defined POLLS
    pthread_create(&threads[0], NULL, polls, NULL);
#else
    pthread_create(&threads[0], NULL, work, NULL);
#endif
    for (;;) {
#ifdef DATAGRAMS
        char datagram[64];
        int arrived = (int)recv(server, datagram, sizeof datagram, 0);
#elif defined EPOLL
        int set = epoll_create1(0);
        struct epoll_event event = {.events = EPOLLIN, .data.fd = server};
        epoll_ctl(set, EPOLL_CTL_ADD, server, &event);
        epoll_wait(set, &event, 1, -1);
        int arrived = accept(server, NULL, NULL);
#else
        int arrived = accept(server, NULL, NULL);
#endif
        pthread_mutex_lock(&mutex);
        connection = arrived;
        pthread_cond_signal(&has_work);
        pthread_mutex_unlock(&mutex);
    }
}
