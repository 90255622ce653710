/* The main thread ends by the bare system call, which does not end the process: the others lose an update. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static int count;
static pthread_t first, second;

static void *add(void *unused)
{
    int seen = count;
    count = seen + 1;
    return unused;
}

static void *check(void *unused)
{
    pthread_join(first, NULL);
    pthread_join(second, NULL);
#ifdef FAILS
    assert(count == 2);
#endif
    /* Whether the exit code of the process is that of the first or of the last thread depends on the kernel. */
    syscall(SYS_exit, CODE);
    return unused;
}

int main(void)
{
    pthread_t third;
    pthread_create(&first, NULL, add, NULL);
    pthread_create(&second, NULL, add, NULL);
    pthread_create(&third, NULL, check, NULL);
    syscall(SYS_exit, CODE);
}
