/* A producer hands large blocks to a consumer that frees them, 48 MiB in all: more than is kept after it was freed. */
#include <pthread.h>
#include <stdlib.h>

enum { BLOCKS = 24, SIZE = 2 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char *block;

static void *consume(void *unused)
{
    for (int i = 0; i < BLOCKS; i++) {
        pthread_mutex_lock(&lock);
        while (!block)
            pthread_cond_wait(&changed, &lock);
        free(block);
        block = NULL;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t consumer;

    pthread_create(&consumer, NULL, consume, NULL);
    for (int i = 0; i < BLOCKS; i++) {
        pthread_mutex_lock(&lock);
        while (block)
            pthread_cond_wait(&changed, &lock);
        block = malloc(SIZE);
        block[0] = 1;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(consumer, NULL);
    return 0;
}
