/* A thread has a list of robust futexes of its own, and ends while it holds the one in it: the kernel marks the word then, which another
 * thread takes for impossible. With -DTRY that one waits for the end, and with -DWAITS for the mark itself, of which the kernel tells it.
 */
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    struct robust_list entry;
    unsigned word;
} lock;
static struct robust_list_head held;

static void *leaves_it_locked(void *unused)
{
    lock.entry.next = &held.list;
    held.list.next = &lock.entry;
    held.futex_offset = offsetof(__typeof__(lock), word);
    syscall(SYS_set_robust_list, &held, sizeof held);
    unsigned number = (unsigned)syscall(SYS_gettid);
    __atomic_fetch_or(&lock.word, number, __ATOMIC_SEQ_CST);
    return unused;
}

static unsigned look(void)
{
    return __atomic_load_n(&lock.word, __ATOMIC_SEQ_CST);
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, leaves_it_locked, NULL);
#ifdef TRY
    pthread_join(thread, NULL);
    assert(look() & FUTEX_OWNER_DIED);
#elif defined WAITS
    unsigned seen = __atomic_or_fetch(&lock.word, FUTEX_WAITERS, __ATOMIC_SEQ_CST);
    while (!(seen & FUTEX_OWNER_DIED)) {
        syscall(SYS_futex, &lock.word, FUTEX_WAIT, seen, NULL, NULL, 0);
        seen = look();
    }
    pthread_join(thread, NULL);
#else
    assert(!(look() & FUTEX_OWNER_DIED));
    pthread_join(thread, NULL);
#endif
    return 0;
}
