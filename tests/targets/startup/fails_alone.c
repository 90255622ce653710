/* Fails before it creates a thread: `always-fails`, and no concurrency bug. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

static int columns;

static void *draw(void *unused)
{
    (void)unused;
    columns++;
    return NULL;
}

int main(void)
{
    pthread_t thread;

    fputs("no table given\n", stderr);
    assert(columns > 0); /* FAILS HERE */
    pthread_create(&thread, NULL, draw, NULL);
    columns++;
    pthread_join(thread, NULL);
    return 0;
}
