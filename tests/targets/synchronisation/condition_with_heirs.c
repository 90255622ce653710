/* Condition waits with a mutex that is robust and inherits priorities, and an owner that ends without unlocking it. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int value;

/* The mutex of a thread that has ended is taken over and repaired. */
static void take(int error)
{
    assert(error == 0 || error == EOWNERDEAD);
    if (error == EOWNERDEAD)
        assert(pthread_mutex_consistent(&lock) == 0);
}

static void *wait_for_value(void *unused)
{
    take(pthread_mutex_lock(&lock));
    while (value == 0)
        take(pthread_cond_wait(&changed, &lock));
    assert(pthread_mutex_unlock(&lock) == 0);
    return unused;
}

static void *end_as_owner(void *unused)
{
    take(pthread_mutex_lock(&lock));
    value = 1;
    pthread_cond_signal(&changed);
    return unused;
}

int main(void)
{
    pthread_mutexattr_t kind;
    pthread_t waiter, owner;

    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock, &kind);
    pthread_create(&waiter, NULL, wait_for_value, NULL);
    pthread_create(&owner, NULL, end_as_owner, NULL);
    pthread_join(owner, NULL);
    pthread_join(waiter, NULL);
    take(pthread_mutex_lock(&lock));
    assert(value == 1);
    return pthread_mutex_unlock(&lock);
}
