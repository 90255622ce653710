/* Threads run coroutines, each on a stack of its own in the heap. With LENT, one hands the address of a local variable to the other
 * thread, which writes to it. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

enum { ROUNDS = 3, STACK = 64 << 10 };

struct coroutine {
    ucontext_t caller, own;
    int sum;
    char stack[STACK];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int total;
#ifdef LENT
static int *volatile lent;
#endif
static _Thread_local struct coroutine *running;

static void __attribute__((noinline)) lend(volatile int *number)
{
#ifdef LENT
    lent = (int *)number;
#endif
    *number = 0;
}

static void runs(void)
{
    volatile int number;

    lend(&number);
    for (int i = 0; i < ROUNDS; i++) {
        number = i;
        assert(number == i);
        running->sum += i;
        swapcontext(&running->own, &running->caller);
    }
}

static void *resumes(void *unused)
{
    struct coroutine *coroutine = malloc(sizeof *coroutine);

    running = coroutine;
    coroutine->sum = 0;
    getcontext(&coroutine->own);
    coroutine->own.uc_stack.ss_sp = coroutine->stack;
    coroutine->own.uc_stack.ss_size = STACK;
    coroutine->own.uc_link = &coroutine->caller;
    makecontext(&coroutine->own, runs, 0);
    for (int i = 0; i < ROUNDS; i++)
        swapcontext(&coroutine->caller, &coroutine->own);
    pthread_mutex_lock(&mutex);
    total += coroutine->sum;
    pthread_mutex_unlock(&mutex);
#ifndef LENT
    /* The next thread may get the same block for its coroutine. */
    free(coroutine);
#endif
    return unused;
}

#ifdef LENT
static void *writes(void *unused)
{
    int *number = lent;
    if (number)
        *number = -1;
    return unused;
}
#else
#define writes resumes
#endif

int main(void)
{
    pthread_t threads[2];

    pthread_create(&threads[0], NULL, resumes, NULL);
    pthread_create(&threads[1], NULL, writes, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
#ifndef LENT
    assert(total == 2 * (0 + 1 + 2));
#endif
    return 0;
}
