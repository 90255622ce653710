/* A server that ends by SIGTERM, for which it waits: then nothing may be left to answer. It looks too early, unless -DJOINS. */
#include "client.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int under_way;
static int listener;

static void *worker(void *nothing)
{
    for (;;) {
        char byte;
        int connection = accept(listener, NULL, NULL);
        if (connection < 0)
            return nothing;
        pthread_mutex_lock(&lock);
        under_way = 1;
        pthread_mutex_unlock(&lock);
        if (read(connection, &byte, 1) == 1)
            checked((int)write(connection, &byte, 1), "write");
        pthread_mutex_lock(&lock);
        under_way = 0;
        pthread_mutex_unlock(&lock);
        close(connection);
    }
}

int main(void)
{
    pthread_t thread;
    sigset_t term;
    int signal;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, NULL);
    listener = listening();
    pthread_create(&thread, NULL, worker, NULL);
    sigwait(&term, &signal);
#ifdef JOINS
    shutdown(listener, SHUT_RDWR);
    pthread_join(thread, NULL);
#endif
    pthread_mutex_lock(&lock);
    assert(!under_way);
    pthread_mutex_unlock(&lock);
    return 0;
}
