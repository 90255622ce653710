/* Two threads wait for a raw futex; main lets them wait for another one instead, and wakes them there one by one. */
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t first, second;

static long futex(uint32_t *word, int operation, uint32_t value, uintptr_t most, uint32_t *to, uint32_t expected)
{
    return syscall(SYS_futex, word, operation, value, most, to, expected);
}

static void *wait_for_first(void *unused)
{
    assert(futex(&first, FUTEX_WAIT_PRIVATE, 0, 0, NULL, 0) == 0);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    long moved = 0;

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, wait_for_first, NULL);
    assert(futex(&first, FUTEX_CMP_REQUEUE_PRIVATE, 0, 2, &second, 7) == -1 && "another value is expected");
    while (moved < 2) {
        moved += futex(&first, FUTEX_CMP_REQUEUE_PRIVATE, 0, 2, &second, 0);
        if (moved < 2)
            sched_yield();
    }
    assert(futex(&first, FUTEX_WAKE_PRIVATE, 2, 0, NULL, 0) == 0 && "nobody waits there any more");
    assert(futex(&second, FUTEX_WAKE_PRIVATE, 1, 0, NULL, 0) == 1);
    assert(futex(&second, FUTEX_REQUEUE_PRIVATE, 2, 0, &first, 0) == 1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
