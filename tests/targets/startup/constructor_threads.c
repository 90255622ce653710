// A constructor starts a thread that counts while main does: one of both may be lost.

#include <assert.h>
#include <pthread.h>

static int counter;
static pthread_t worker;

static void *count(void *unused)
{
    counter = counter + 1;
    return unused;
}

__attribute__((constructor)) static void start_worker(void)
{
    pthread_create(&worker, NULL, count, NULL);
}

int main(void)
{
    counter = counter + 1;
    pthread_join(worker, NULL);
    assert(counter == 2);
    return 0;
}
