// A thread hands a letter over and lets two words go by one call of the kernel (FUTEX_WAKE_OP): it wakes who waits at the gate, stores
// 0 into the latch, and wakes who waits at that if it held 1. With -DLATE the letter is written after the call: a data race, and the
// assertion may fail. With -DKEPT the call leaves the latch as it is: a thread waits there for ever.

#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef KEPT
#define CHANGE FUTEX_OP(FUTEX_OP_OR, 1, FUTEX_OP_CMP_EQ, 1)
#else
#define CHANGE FUTEX_OP(FUTEX_OP_SET, 0, FUTEX_OP_CMP_EQ, 1)
#endif

static atomic_uint gate, latch = 1;
static int letter;

static void wait_while(atomic_uint *word, unsigned value)
{
    while (atomic_load(word) == value)
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void *at_gate(void *unused)
{
    wait_while(&gate, 0);
    return unused;
}

static void *at_latch(void *unused)
{
    wait_while(&latch, 1);
    assert(letter == 3);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, at_gate, NULL);
    pthread_create(&second, NULL, at_latch, NULL);
#ifndef LATE
    letter = 3;
#endif
    atomic_store(&gate, 1);
    long woken = syscall(SYS_futex, &gate, FUTEX_WAKE_OP_PRIVATE, 1, 1, &latch, CHANGE);
    assert(woken >= 0 && woken <= 2);
#ifdef LATE
    letter = 3;
#endif
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
