/* A function works on a stack of its own for a moment, in memory that another thread writes. */
#include <assert.h>
#include <pthread.h>

static volatile long memory[64];

static long top_of_other_stack(void)
{
    long number;
    __asm__ volatile("xchg %1, %%rsp\n\tmov 16(%%rsp), %0\n\txchg %1, %%rsp"
                     : "=&r"(number)
                     : "r"(memory)
                     : "memory");
    return number;
}

static void *writes(void *unused)
{
    memory[2] = 1;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, writes, NULL);
    long before = top_of_other_stack(), after = top_of_other_stack();
    pthread_join(thread, NULL);
    assert(before == after);
    return 0;
}
