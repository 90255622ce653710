/* Answers what comes over connections, each of which a thread hands over to another one. There is room for one that waits: a
   second one takes its place. With -DQUEUE there is room for all. */
#include "client.h"

#include <pthread.h>

#ifdef QUEUE
enum { ROOM = 8 };
#else
enum { ROOM = 1 };
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t there = PTHREAD_COND_INITIALIZER;
static int jobs[ROOM];
static int waiting;

static void *worker(void *nothing)
{
    (void)nothing;
    for (;;) {
        char byte;
        pthread_mutex_lock(&lock);
        while (waiting == 0)
            pthread_cond_wait(&there, &lock);
        int connection = jobs[--waiting];
        pthread_mutex_unlock(&lock);
        if (read(connection, &byte, 1) == 1)
            checked((int)write(connection, &byte, 1), "write");
        close(connection);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int listener = listening();
    pthread_create(&thread, NULL, worker, NULL);
    for (;;) {
        int connection = checked(accept(listener, NULL, NULL), "accept");
        pthread_mutex_lock(&lock);
        if (waiting < ROOM)
            waiting++;
        jobs[waiting - 1] = connection;
        pthread_cond_signal(&there);
        pthread_mutex_unlock(&lock);
    }
}
