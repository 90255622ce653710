/* Two threads that answer what comes over connections, and count it: without a lock, unless -DLOCKED. */
#include "client.h"

#include <pthread.h>

static int listener;
static int count;

#ifdef LOCKED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static char counted(int by)
{
#ifdef LOCKED
    pthread_mutex_lock(&lock);
#endif
    count += by;
    char digit = (char)('0' + count);
#ifdef LOCKED
    pthread_mutex_unlock(&lock);
#endif
    return digit;
}

static void *worker(void *nothing)
{
    for (;;) {
        char byte;
        int connection = checked(accept(listener, NULL, NULL), "accept");
        if (read(connection, &byte, 1) == 1) {
            char digit = counted(byte == '+');
            checked((int)write(connection, &digit, 1), "write");
        }
        close(connection);
    }
    return nothing;
}

int main(void)
{
    pthread_t one;
    listener = listening();
    pthread_create(&one, NULL, worker, NULL);
    worker(NULL);
}
