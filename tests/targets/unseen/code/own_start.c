/* A program with its own first function, built so that no table tells of any function: its symbols and its unwinding tables are left out.
 * Two threads add to a counter, by a function to which only a pointer leads. Built with -DON_STACK, the counter is on the stack of main,
 * whose frame nothing tells of. Built with -DLOCKED, they add under a mutex. */
#include <pthread.h>
#include <stdlib.h>

__asm__("    .text\n"
        "    .globl _start\n"
        "_start:\n"
        "    xor %ebp, %ebp\n"
        "    mov %rdx, %r9\n"
        "    pop %rsi\n"
        "    mov %rsp, %rdx\n"
        "    and $-16, %rsp\n"
        "    push %rax\n"
        "    push %rsp\n"
        "    xor %r8d, %r8d\n"
        "    xor %ecx, %ecx\n"
        "    lea main(%rip), %rdi\n"
        "    call *__libc_start_main@GOTPCREL(%rip)\n"
        "    hlt\n");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *adds(void *counter)
{
    volatile long *cell = counter;
#ifdef LOCKED
    pthread_mutex_lock(&lock);
#endif
    *cell = *cell + 1;
#ifdef LOCKED
    pthread_mutex_unlock(&lock);
#endif
    return (void *)&lock;
}

int main(void)
{
#ifndef ON_STACK
    static
#endif
        volatile long counter;
    counter = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, adds, (void *)&counter);
#ifdef LOCKED
    pthread_mutex_lock(&lock);
#endif
    long seen = counter;
    counter = seen + 1;
#ifdef LOCKED
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(thread, NULL);
    if (counter != 2)
        abort();
    return 0;
}
