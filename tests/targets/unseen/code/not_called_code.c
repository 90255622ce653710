/* Two threads add to a counter, by code that nothing calls code. Built with -DVARIABLE, its symbol is that of a variable; with -DSTUBS, it
 * is in a section for stubs; otherwise it is a label behind a function that does not say where it ends. Built with -DTRY, the threads only
 * read the counter. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

volatile long counter;
void add(volatile long *cell);
int first(int number);

#ifdef TRY
#define STORE ""
#else
#define STORE "    mov %rax, (%rdi)\n"
#endif

#if defined VARIABLE
#define BEGINS "    .type add, @object\n    .size add, behind - add\n"
#define SECTION ""
#elif defined STUBS
#define BEGINS "    .type add, @function\n    .size add, behind - add\n"
#define SECTION "    .section .plt.sec, \"ax\", @progbits\n"
#else
#define BEGINS ""
#define SECTION ""
#endif

__asm__("    .pushsection .text\n"
        "    .type first, @function\n"
        "first:\n"
        "    lea (%rdi, %rdi), %eax\n"
        "    ret\n" SECTION BEGINS
        "add:\n"
        "    mov (%rdi), %rax\n"
        "    inc %rax\n" STORE "    ret\n"
        "behind:\n"
        "    .popsection\n");

void (*volatile function)(volatile long *);

static void *adds(void *unused)
{
    first(1);
    function(&counter);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    function = add;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, adds, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
#ifndef TRY
    assert(counter == 2);
#endif
    return 0;
}
