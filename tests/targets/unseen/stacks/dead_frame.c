/* A function hands the address of its variable to a thread and returns; the next function has its own variables there. */
#include <assert.h>
#include <pthread.h>

enum { COUNT = 8, OTHER = 99 };

static void *use(void *number)
{
    assert(*(volatile int *)number != OTHER);
    return NULL;
}

static void __attribute__((noinline)) start(pthread_t *thread)
{
    volatile int numbers[COUNT];

    for (int i = 0; i < COUNT; i++)
        numbers[i] = i;
    pthread_create(thread, NULL, use, (void *)&numbers[COUNT / 2]);
}

static void __attribute__((noinline)) fill(int number)
{
    volatile int numbers[4 * COUNT];

    for (int i = 0; i < 4 * COUNT; i++)
        numbers[i] = number;
    for (int i = 0; i < 4 * COUNT; i++)
        numbers[i] = 0;
}

int main(void)
{
    pthread_t thread;

    start(&thread);
    fill(OTHER);
    pthread_join(thread, NULL);
    return 0;
}
