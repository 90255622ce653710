/* Threads and a mutex as standard C has them. */
#include <assert.h>
#include <stddef.h>
#include <threads.h>

static mtx_t mutex;
static int count;

static int add(void *unused)
{
    (void)unused;
    mtx_lock(&mutex);
    count++;
    mtx_unlock(&mutex);
    return 0;
}

int main(void)
{
    thrd_t threads[2];

    mtx_init(&mutex, mtx_plain);
    for (int i = 0; i < 2; i++)
        thrd_create(&threads[i], add, NULL);
    for (int i = 0; i < 2; i++)
        thrd_join(threads[i], NULL);
    assert(count == 2);
    return 0;
}
