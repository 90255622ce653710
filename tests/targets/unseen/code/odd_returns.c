/* Two threads add to a counter, in the middle of code that calls a place within itself. The callee goes back by a jump through a register;
 * built with -DOVER_TEXT, it steps over a text behind the call. Built with -DLOCKED, they add under a mutex. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

volatile long counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#ifdef OVER_TEXT
#define TEXT "    .asciz \"Hello\"\n"
#define GO_BACK "    addq $6, (%%rsp)\n    ret\n"
#else
#define TEXT ""
#define GO_BACK "    pop %%rcx\n    jmp *%%rcx\n"
#endif

static void *adds(void *unused)
{
#ifdef LOCKED
    pthread_mutex_lock(&lock);
#endif
    __asm__ volatile("    sub $256, %%rsp\n"
                     "    call 1f\n" TEXT
                     "    mov (%0), %%rax\n"
                     "    inc %%rax\n"
                     "    mov %%rax, (%0)\n"
                     "    jmp 2f\n"
                     "1:\n" GO_BACK
                     "2:\n"
                     "    add $256, %%rsp\n"
                     :
                     : "r"(&counter)
                     : "rax", "rcx", "memory", "cc");
#ifdef LOCKED
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, adds, (void *)&lock);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 2);
    return 0;
}
