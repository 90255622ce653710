/* A library of which a function counts by two threads, without a lock. With LIBRARY, that library; else, the program that asks it. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

int count_twice(void);

#ifdef LIBRARY
static int counter;

static void *count(void *unused)
{
    __atomic_store_n(&counter, __atomic_load_n(&counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    return unused;
}

int count_twice(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, count, NULL);
    count(NULL);
    pthread_join(thread, NULL);
    return counter;
}
#else
int main(void)
{
    assert(count_twice() == 2);
    return 0;
}
#endif
