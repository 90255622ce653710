// Two threads lose an update of a variable whose name takes two columns for each of its characters.

#include <assert.h>
#include <pthread.h>

static int 在庫の数量;

static void *数える(void *argument)
{
    在庫の数量 = 在庫の数量 + 1;
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, 数える, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(在庫の数量 == 2);
    return 0;
}
