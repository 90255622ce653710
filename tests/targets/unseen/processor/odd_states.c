/* Threads add to a counter in states in which little else may be done: with a stack that is used up to its end ("top"), while accesses have
 * to be aligned ("aligned"), behind a filter for system calls that lets no futex pass ("filter"); and
 * say on which processor they run, which the tool makes up ("processor"). */
#define _GNU_SOURCE
#include <assert.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

volatile long total;
static const char *state;

static void add_at_top(void)
{
    const size_t page = 4096;
    char *stack = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(stack != MAP_FAILED && !mprotect(stack + page, page, PROT_NONE));
    __asm__ volatile("mov %%rsp, %%rax\n\t"
                     "mov %0, %%rsp\n\t"
                     "lock incq total(%%rip)\n\t"
                     "mov %%rax, %%rsp"
                     :
                     : "r"(stack + page)
                     : "rax", "memory", "cc");
}

static void add_aligned(void)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
                     "pushf\n\t"
                     "orl $0x40000, (%%rsp)\n\t"
                     "popf\n\t"
                     "lock incq total(%%rip)\n\t"
                     "pushf\n\t"
                     "andl $~0x40000, (%%rsp)\n\t"
                     "popf\n\t"
                     "lea 128(%%rsp), %%rsp"
                     :
                     :
                     : "memory", "cc");
}

static void add_behind_filter(void)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof program / sizeof *program, program};
    assert(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
    __atomic_add_fetch(&total, 1, __ATOMIC_SEQ_CST);
}

static int is_where_it_may_run(void)
{
    cpu_set_t all, last;
    int processor = 0;
    assert(sched_getcpu() == 0 && !sched_getaffinity(0, sizeof all, &all));
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all))
            processor = i;
    CPU_ZERO(&last);
    CPU_SET(processor, &last);
    return !sched_setaffinity(0, sizeof last, &last) && sched_getcpu() == processor;
}

static void *work(void *unused)
{
    __atomic_add_fetch(&total, 1, __ATOMIC_SEQ_CST);
    if (!strcmp(state, "top"))
        add_at_top();
    else if (!strcmp(state, "aligned"))
        add_aligned();
    else if (!strcmp(state, "filter"))
        add_behind_filter();
    else
        __atomic_add_fetch(&total, is_where_it_may_run(), __ATOMIC_SEQ_CST);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    assert(argc == 2);
    state = argv[1];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(total == 4);
    return 0;
}
