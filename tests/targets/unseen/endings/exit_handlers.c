/* Two threads each ask for something to be done at the end: the order in which they ask decides what comes last. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int last;

static void one(void)
{
    last = 1;
}

static void two(void)
{
    last = 2;
}

static void judges(void)
{
    if (last != 2)
        _exit(1);
}

static void *asks(void *unused)
{
    atexit(one);
    return unused;
}

int main(void)
{
    pthread_t thread;
    atexit(judges);
    pthread_create(&thread, NULL, asks, NULL);
    atexit(two);
    pthread_join(thread, NULL);
    return 0;
}
