/* A thread adds to its thread-local counter, and another one does by a pointer. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static _Thread_local int counter;
static int *lent;

static void *adds(void *unused)
{
    ++*lent;
    return unused;
}

int main(void)
{
    pthread_t thread;
    lent = &counter;
    pthread_create(&thread, NULL, adds, NULL);
    counter++;
    pthread_join(thread, NULL);
    assert(counter == 2);
    return 0;
}
