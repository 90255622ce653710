/* A thread copies a function of the program and runs the copy. Built with -DSHORT, the function is too short for a jump. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

void add(long *cell);
extern const char add_ends[];

__asm__("    .pushsection .text\n"
        "    .globl add\n"
        "    .type add, @function\n"
        "add:\n"
#ifdef SHORT
        "    incq (%rdi)\n"
#else
        "    addq $1000000, (%rdi)\n"
#endif
        "    ret\n"
        "    .size add, . - add\n"
        "add_ends:\n"
        "    .popsection\n");

static long counter;

static void *adds(void *room)
{
    add(&counter);
    memcpy(room, (const void *)add, (size_t)(add_ends - (const char *)add));
    ((void (*)(long *))room)(&counter);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    void *room = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(room != MAP_FAILED);
    pthread_create(&thread, NULL, adds, room);
    add(&counter);
    pthread_join(thread, NULL);
    return 0;
}
