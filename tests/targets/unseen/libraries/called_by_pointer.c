/* Memory is written by a function of the C library that is called through a pointer; another thread reads it. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

static void *(*volatile copies)(void *, const void *, size_t) = memcpy;
static volatile char place = '1';

static void *changes(void *unused)
{
    copies((void *)&place, "2", 1);
    copies((void *)&place, "1", 1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, changes, NULL);
    assert(place == '1');
    pthread_join(thread, NULL);
    return 0;
}
