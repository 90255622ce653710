/* A counter behind a mutex with priority inheritance, which is another kind of futex. */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock;
static int counter;

static void *count(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t inheriting;
    pthread_t thread;

    pthread_mutexattr_init(&inheriting);
    pthread_mutexattr_setprotocol(&inheriting, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&lock, &inheriting);
    pthread_create(&thread, NULL, count, NULL);
    count(NULL);
    pthread_join(thread, NULL);
    return counter == 2 ? 0 : 1;
}
