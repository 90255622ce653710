/* Main frees a channel, and the mutex in it, when the worker has said that it is done; the worker then locks it once more. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct channel {
    pthread_mutex_t lock;
    int messages;
};

static atomic_int is_done;

static void *send_all(void *argument)
{
    struct channel *channel = argument;

    atomic_store(&is_done, 1);
    pthread_mutex_lock(&channel->lock);
    pthread_mutex_unlock(&channel->lock);
    return NULL;
}

int main(void)
{
    pthread_t worker;
    struct channel *channel = calloc(1, sizeof *channel);

    pthread_mutex_init(&channel->lock, NULL);
    pthread_create(&worker, NULL, send_all, channel);
    if (atomic_load(&is_done))
        free(channel);
    pthread_join(worker, NULL);
    return 0;
}
