/* A thread that clone has made, and not the C library, adds to a counter as main does. */
#define _GNU_SOURCE
#include <assert.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { STACK = 1 << 16 };

static volatile int counter;
static atomic_int done;

static int adds(void *unused)
{
    (void)unused;
    counter++;
    atomic_store(&done, 1);
    return 0;
}

int main(void)
{
    char *stack = malloc(STACK);
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    assert(stack != NULL && clone(adds, stack + STACK, flags, NULL) > 0);
    counter++;
    while (!atomic_load(&done))
        sched_yield();
    assert(counter == 2);
    return 0;
}
