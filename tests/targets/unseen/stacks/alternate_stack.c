/* Two threads handle a signal, each on an alternate stack: on one and the same, or with -DTRY on two. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>

enum { SIZE = 64 << 10 };
static char stacks[2][SIZE];
static __thread volatile int own;

static void handle(int signal)
{
    volatile int first = own, second = first;
    (void)signal;
    assert(first == own && second == own);
}

static void *interrupts_itself(void *nth)
{
    stack_t stack = {.ss_sp = stacks[0], .ss_size = SIZE};
    own = 1 + (nth != NULL);
#ifdef TRY
    stack.ss_sp = stacks[own - 1];
#endif
    assert(sigaltstack(&stack, NULL) == 0);
    pthread_kill(pthread_self(), SIGUSR1);
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    pthread_t first, second;
    pthread_create(&first, NULL, interrupts_itself, NULL);
    pthread_create(&second, NULL, interrupts_itself, &second);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
