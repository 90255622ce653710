/* Two threads put entries into a tree of the C library, which compares them by calling back. */
#include <assert.h>
#include <pthread.h>
#include <search.h>

static void *root;
static int keys[] = {1, 2};

static int compares(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void *puts_in(void *key)
{
    assert(tsearch(key, &root, compares) != NULL);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, puts_in, &keys[0]);
    puts_in(&keys[1]);
    pthread_join(thread, NULL);
    assert(tfind(&keys[0], &root, compares) != NULL && tfind(&keys[1], &root, compares) != NULL);
    return 0;
}
