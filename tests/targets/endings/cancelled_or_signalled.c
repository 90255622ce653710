/* A thread waits at a condition variable. One thread signals it, and main cancels it. */
#include <pthread.h>
#include <stddef.h>

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

static void *change(void *unused)
{
    pthread_cond_signal(&changed);
    return unused;
}

int main(void)
{
    pthread_t waiter, changer;

    pthread_create(&waiter, NULL, await, NULL);
    pthread_create(&changer, NULL, change, NULL);
    pthread_cancel(waiter);
    pthread_join(waiter, NULL);
    return pthread_join(changer, NULL);
}
