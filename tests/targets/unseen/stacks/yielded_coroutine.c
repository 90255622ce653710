/* A coroutine has handed out the address of its variable, and yielded, when a thread begins that adds to the variable as the coroutine itself
 * does. With LOCKED both take a lock.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

enum { STACK = 64 << 10 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static ucontext_t caller, own;
static volatile int *lent;

static void lock(void)
{
#ifdef LOCKED
    pthread_mutex_lock(&mutex);
#endif
}

static void unlock(void)
{
#ifdef LOCKED
    pthread_mutex_unlock(&mutex);
#endif
}

static void runs(void)
{
    volatile int number = 0;

    lent = &number;
    swapcontext(&own, &caller);
    lock();
    number++;
    unlock();
    swapcontext(&own, &caller);
    assert(number == 2);
    swapcontext(&own, &caller);
}

static void *adds(void *unused)
{
    lock();
    (*lent)++;
    unlock();
    return unused;
}

int main(void)
{
    pthread_t thread;

    getcontext(&own);
    own.uc_stack.ss_sp = malloc(STACK);
    own.uc_stack.ss_size = STACK;
    own.uc_link = &caller;
    makecontext(&own, runs, 0);
    swapcontext(&caller, &own);
    pthread_create(&thread, NULL, adds, NULL);
    swapcontext(&caller, &own);
    pthread_join(thread, NULL);
    swapcontext(&caller, &own);
    return 0;
}
