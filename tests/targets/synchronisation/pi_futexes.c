/* Two threads take two futexes with priority inheritance in opposite orders, by system calls: the kernel refuses to let the second one wait for
 * the first one, which waits for it. With -DTRY, a thread that cannot have the other one goes on without it; with -DSEEN, main looks a futex
 * up in its word, and expects that nobody has it. */
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int futexes[2];
static int taken;

static int call(volatile int *futex, int what)
{
    return syscall(SYS_futex, futex, what | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0) == 0 ? 0 : errno;
}

#ifdef SEEN

static void *takes(void *unused)
{
    assert(call(&futexes[0], FUTEX_TRYLOCK_PI) == 0);
    assert(call(&futexes[0], FUTEX_UNLOCK_PI) == 0);
    return unused;
}

#else

static void *takes(void *second)
{
    volatile int *first = &futexes[second != NULL], *last = &futexes[second == NULL];

    assert(call(first, FUTEX_LOCK_PI) == 0);
    int error = call(last, FUTEX_LOCK_PI);
#ifdef TRY
    assert(error == 0 || error == EDEADLK);
#else
    assert(error == 0);
#endif
    if (error == 0) {
        taken++;
        assert(call(last, FUTEX_UNLOCK_PI) == 0);
    }
    assert(call(first, FUTEX_UNLOCK_PI) == 0);
    return NULL;
}

#endif

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, takes, (void *)futexes);
#ifdef SEEN
    assert(futexes[0] == 0);
#else
    takes(NULL);
#endif
    pthread_join(thread, NULL);
#ifndef SEEN
    assert(taken >= 1);
#endif
    return 0;
}
