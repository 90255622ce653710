/* Functions that begin with what elsewhere only fills the space between functions, right behind ones that store and return. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
volatile char last;
volatile long total;

void store(volatile char *cell, char value);
void count(volatile long *cell);

__asm__("    .text\n"
        "    .type store, @function\n"
        "store:\n"
        "    mov %sil, (%rdi)\n"
        "    ret\n"
        "    .size store, . - store\n"
        "    .type count, @function\n"
        "count:\n"
        "    nop\n"
        "    nop\n"
        "    addq $1, (%rdi)\n"
        "    jmp 1f\n"
        "2:\n"
        "    nop\n"
        "    ret\n"
        "1:\n"
        "    lea 2b(%rip), %rax\n"
        "    jmp *%rax\n"
        "    .size count, . - count\n");

static void *work(void *unused)
{
    for (char i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        store(&last, i);
        count(&total);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(total == 4 && last == 1);
    return 0;
}
