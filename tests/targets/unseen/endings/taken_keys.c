/* Two threads take a key each: which one comes first gets the lower number. */
#include <assert.h>
#include <pthread.h>

static pthread_key_t first, second;

static void *takes(void *unused)
{
    pthread_key_create(&first, NULL);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, takes, NULL);
    pthread_key_create(&second, NULL);
    pthread_join(thread, NULL);
    assert(second < first);
    return 0;
}
