/* Two threads wait for one futex, for wakes of a kind each: bits that the waiter names. The wakes are for one of the two, so that the other
 * one waits for ever. With -DSTAY they are at that futex; with -DMOVED the waiters are let wait for another one first, for the same kinds
 * as before, and with -DNONE no waiter is asked for twice, each of which wakes one. With -DTRY, the wakes are for both kinds. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { READERS = 1, WRITERS = 2, BOTH = READERS | WRITERS };

#ifdef TRY
enum { WOKEN = BOTH };
#else
enum { WOKEN = READERS };
#endif

static atomic_int ready, other __attribute__((unused));

static void *await(void *kinds)
{
    while (!ready)
        syscall(SYS_futex, &ready, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, *(int *)kinds);
    return NULL;
}

int main(void)
{
    static int kinds[] = {READERS, WRITERS};
    pthread_t threads[2];
    atomic_int *woken = &ready;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, await, &kinds[i]);
    ready = 1;
#ifdef MOVED
    syscall(SYS_futex, &ready, FUTEX_REQUEUE_PRIVATE, 0, 2L, &other, 0);
    woken = &other;
#endif
#ifdef NONE
    for (int i = 0; i < 2; i++)
        syscall(SYS_futex, woken, FUTEX_WAKE_BITSET_PRIVATE, 0, NULL, NULL, WOKEN);
#else
    syscall(SYS_futex, woken, FUTEX_WAKE_BITSET_PRIVATE, 2, NULL, NULL, WOKEN);
#endif
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
