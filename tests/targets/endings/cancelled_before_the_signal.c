/* Main cancels a thread that waits at a condition variable, and signals it then. The signal comes too late: the thread ends. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void let_go(void *unused)
{
    (void)unused;
    pthread_mutex_unlock(&lock);
}

static void *await(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(let_go, NULL);
    pthread_cond_wait(&changed, &lock);
    pthread_cleanup_pop(1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    void *result;

    pthread_create(&thread, NULL, await, NULL);
    pthread_cancel(thread);
    pthread_cond_signal(&changed);
    pthread_join(thread, &result);
    if (result != PTHREAD_CANCELED)
        abort();
    return 0;
}
