/* Two workers lose an update of a counter on the heap, which main has allocated among others, some of which it has freed;
 * one that they allocate themselves is named as well. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct counter {
    int pages;
    int views;
};

static struct counter *make_counter(void)
{
    return calloc(1, sizeof(struct counter));
}

static void *count(void *counter)
{
    ((struct counter *)counter)->views += 1;
    return NULL;
}

int main(void)
{
    pthread_t first, second;

    /* What lies where depends on all of it. */
    for (int i = 0; i < 3000; i++) {
        free(strdup("unused"));
    }
    struct counter *freed = make_counter();
    struct counter *counter = make_counter();
    free(freed);
    void *aligned = NULL;
    assert(posix_memalign(&aligned, 64, sizeof(struct counter)) == 0);

    pthread_create(&first, NULL, count, counter);
    pthread_create(&second, NULL, count, counter);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(counter->views == 2); /* FAILS HERE */

    struct counter *late = aligned;
    late->views = 0;
    pthread_create(&first, NULL, count, late);
    pthread_create(&second, NULL, count, late);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(late->views == 2);
    return 0;
}
