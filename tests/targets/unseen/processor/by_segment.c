/* A thread writes to what threads share by an address relative to `gs`, or with -DFS to `fs`. */
#include <asm/prctl.h>
#include <assert.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile long number;

static void *writes(void *unused)
{
#ifdef FS
    char *base;
    __asm__("movq %%fs:0, %0" : "=r"(base));
    __asm__ volatile("movq $1, %%fs:(%0)" ::"r"((char *)&number - base) : "memory");
#else
    syscall(SYS_arch_prctl, ARCH_SET_GS, &number);
    __asm__ volatile("movq $1, %%gs:0" ::: "memory");
#endif
    return unused;
}

static void *reads(void *unused)
{
    long first = number;
    assert(number == first);
    return unused;
}

int main(void)
{
    pthread_t threads[2];

    pthread_create(&threads[0], NULL, writes, NULL);
    pthread_create(&threads[1], NULL, reads, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
