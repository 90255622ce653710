/* Threads that write to null, and then divide by zero, leave these instructions by jumps out of a handler, which runs once for each. */
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t faults;
static int *volatile nowhere;
static volatile int zero, left;

static void leap(int number)
{
    faults++;
    siglongjmp(back, number);
}

static void *fault_twice(void *unused)
{
    if (sigsetjmp(back, 1) == 0)
        *(volatile int *)nowhere = 1;
    assert(faults == 1);
    if (sigsetjmp(back, 1) == 0)
        left = 100 / zero;
    assert(faults == 2);
    __atomic_fetch_add(&left, 1, __ATOMIC_SEQ_CST);
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_handler = leap };
    pthread_t first, second;

    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    pthread_create(&first, NULL, fault_twice, NULL);
    pthread_create(&second, NULL, fault_twice, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(left == 2);
    return 0;
}
