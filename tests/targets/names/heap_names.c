/* Two workers lose an update of a counter on the heap, which main has allocated among others, some of which it has freed;
 * one that they allocate themselves is named as well. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PAGES, VIEWS };

static int *make_counter(void)
{
    return calloc(2, sizeof(int));
}

static void *count(void *counter)
{
    ((int *)counter)[VIEWS] += 1;
    return NULL;
}

int main(void)
{
    pthread_t first, second;

    /* What lies where depends on all of it. */
    for (int i = 0; i < 3000; i++) {
        free(strdup("unused"));
    }
    int *freed = make_counter();
    int *counter = make_counter();
    free(freed);
    void *aligned = NULL;
    assert(posix_memalign(&aligned, 64, 2 * sizeof(int)) == 0);

    pthread_create(&first, NULL, count, counter);
    pthread_create(&second, NULL, count, counter);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(counter[VIEWS] == 2); /* FAILS HERE */

    int *late = aligned;
    late[VIEWS] = 0;
    pthread_create(&first, NULL, count, late);
    pthread_create(&second, NULL, count, late);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(late[VIEWS] == 2);
    return 0;
}
