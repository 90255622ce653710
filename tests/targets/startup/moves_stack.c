/* A constructor makes room on the stack as compilers do for arrays whose length is not known: it computes an address, and moves the stack there. Then
 * two threads add to a number without a lock.
 */
#include <pthread.h>
#include <stdlib.h>

static volatile int total;

static void __attribute__((constructor, noinline)) prepares(void)
{
    asm volatile("mov %%rsp, %%rax\n"
                 "sub $4096, %%rax\n"
                 "mov %%rax, %%rsp\n"
                 "add $4096, %%rax\n"
                 "mov %%rax, %%rsp\n" ::: "rax", "cc", "memory");
}

static void *adds(void *unused)
{
    total++;
    return unused;
}

int main(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, adds, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (total != 2)
        abort();
    return 0;
}
