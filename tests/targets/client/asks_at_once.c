/* A client with threads: each of two asks over a connection of its own. The main thread waits for a condition that never comes, for
   two seconds, before it starts them; and then asks without waiting until it is answered. */
#include "client.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void *asks(void *flags)
{
    char answer = 0;
    int connection = connected();
    checked((int)write(connection, "+", 1), "write");
    while (recv(connection, &answer, 1, flags ? MSG_DONTWAIT : 0) < 0 && errno == EAGAIN)
        ;
    close(connection);
    return answer == '+' ? NULL : flags;
}

int main(void)
{
    pthread_t thread;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    pthread_mutex_lock(&lock);
    while (pthread_cond_timedwait(&never, &lock, &until) != ETIMEDOUT)
        ;
    pthread_create(&thread, NULL, asks, NULL);
    void *failed = asks(&lock);
    pthread_join(thread, NULL);
    return failed != NULL;
}
