/* A thread that finds nothing ready waits at a futex by the bare system call. It takes for granted that the word is still
 * what it was. */
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int ready, word;

static void *await(void *unused)
{
    if (!ready && syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) != 0)
        abort(); /* FAILS HERE */
    return unused;
}

static void *announce(void *unused)
{
    ready = 1;
    word = 1;
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return unused;
}

int main(void)
{
    pthread_t awaiting, announcing;

    pthread_create(&awaiting, NULL, await, NULL);
    pthread_create(&announcing, NULL, announce, NULL);
    pthread_join(awaiting, NULL);
    pthread_join(announcing, NULL);
    return 0;
}
