/* Two threads add to a counter, by code that no symbol calls a function. Built with -DTRY, the threads only read it. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

volatile long counter;
void add(volatile long *cell);

#ifdef TRY
#define STORE ""
#else
#define STORE "    mov %rax, (%rdi)\n"
#endif

#ifdef IN_C
/* Without a symbol table and unwinding tables nothing tells of it. */
__attribute__((noinline)) void add(volatile long *cell)
{
    long seen = *cell;
#ifndef TRY
    *cell = seen + 1;
#else
    (void)seen;
#endif
}
#else
/* Data stands in front of it, which looks like the beginning of a long instruction, and behind its first one. */
__asm__("    .text\n"
        "    .byte 0x48, 0xb8\n"
        "add:\n"
        "    jmp go_on\n"
        "    .byte 0x48, 0xb8\n"
        "go_on:\n"
        "    mov (%rdi), %rax\n"
        "    inc %rax\n" STORE "    ret\n");
#endif

#ifdef BY_POINTER
void (*volatile function)(volatile long *) = add;
#else
#define function add
#endif

static void *adds(void *unused)
{
    function(&counter);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, adds, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
#ifndef TRY
    assert(counter == 2);
#endif
    return 0;
}
