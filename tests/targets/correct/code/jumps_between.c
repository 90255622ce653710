/* Threads work on memory of their own, in code that would notice if other code ran in its place: jumps whose targets are computed land
 * behind short loads, and loads fault, whose handler looks at the place and the registers. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { ROUNDS = 50, FAULTS = 5 };

static __thread sigjmp_buf back;
static __thread char *closed;
static __thread int faults;

extern char load_begins[];

__attribute__((noinline)) static int load(const int *from)
{
    int loaded;

    __asm__ volatile("load_begins: movl (%1), %0\n\tnop\n\tnop" : "=r"(loaded) : "a"(from));
    return loaded;
}

static void look(int number, siginfo_t *info, void *context)
{
    const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    (void)number;
    faults++;
    assert((char *)registers[REG_RIP] == load_begins);
    assert((char *)registers[REG_RAX] == closed && info->si_addr == closed);
    siglongjmp(back, 1);
}

static int interpret(const unsigned char *code, int *data)
{
    static const void *const places[] = {&&both, &&second, &&again, &&end};
    int sum = 0, at = 0, rounds = 0;

    goto *places[code[at++]];
both:
    sum += data[0];
second:
    sum += data[1];
    data[2] = sum;
    goto *places[code[at++]];
again:
    if (++rounds < ROUNDS) {
        at = 0;
    }
    goto *places[code[at++]];
end:
    return sum;
}

static void *work(void *unused)
{
    const unsigned char code[] = {0, 1, 1, 0, 2, 3};
    int *data = malloc(3 * sizeof *data);
    int seven = 7;

    data[0] = 1;
    data[1] = 2;
    assert(interpret(code, data) == ROUNDS * (3 + 2 + 2 + 3) && data[2] == ROUNDS * 10);
    free(data);
    closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < FAULTS; i++) {
        if (sigsetjmp(back, 1) == 0) {
            load((int *)closed);
        }
    }
    assert(faults == FAULTS && load(&seven) == 7);
    munmap(closed, 4096);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_sigaction = look;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
