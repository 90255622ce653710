/* Functions of assembly with data among their instructions, which look like instructions that touch memory: a constant behind the code, one that
 * is jumped over, one whose address a call leaves on the stack, the table of a switch. Two threads add to a number beside; with LOCKED they take a
 * lock.
 */
#include <pthread.h>
#include <stdlib.h>

/* inc (rip); nop; ret */
#define CODE ".byte 0xff, 0x05, 0, 0, 0, 0, 0x90, 0xc3\n"
#define FUNCTION(name, body) \
    asm(".pushsection .text\n.type " #name ", @function\n" #name ":\n" body ".size " #name ", . - " #name "\n.popsection")

enum { CASES = 4 };

unsigned long behind(void), jumped_over(void), called_over(void);
int chosen(long number);
volatile int total;

FUNCTION(behind, "mov 1f(%rip), %rax\nret\n1: " CODE);
FUNCTION(jumped_over, "jmp 2f\n1: " CODE "2: mov 1b(%rip), %rax\nret\n");
FUNCTION(called_over, "call 2f\n" CODE "2: pop %rax\nmov (%rax), %rax\nret\n");
FUNCTION(chosen, "lea 3f(%rip), %rax\nmovslq (%rax, %rdi, 4), %rdi\nadd %rdi, %rax\njmp *%rax\n"
                 "3: .long 4f - 3b, 5f - 3b, 6f - 3b, 7f - 3b\n"
                 "4: mov $5, %eax\nret\n5: mov $6, %eax\nret\n6: mov $7, %eax\nret\n7: mov total(%rip), %eax\nret\n");

#ifdef LOCKED
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#endif

static void check(void)
{
    const unsigned long constant = 0xc3900000000005ff;

    if (behind() != constant || jumped_over() != constant || called_over() != constant)
        abort();
    for (int i = 0; i < CASES - 1; i++)
        if (chosen(i) != 5 + i)
            abort();
}

static void *adds(void *unused)
{
    check();
#ifdef LOCKED
    pthread_mutex_lock(&mutex);
#endif
    total++;
#ifdef LOCKED
    pthread_mutex_unlock(&mutex);
#endif
    return unused;
}

int main(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, adds, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (chosen(CASES - 1) != 2)
        abort();
    return 0;
}
