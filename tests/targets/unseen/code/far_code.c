/* A program with more code than is decoded before executions come to it. What fails is in a part to which one order of events leads.
 * Built with -DLOCKED, that is correct; with -DFORKS or -DHANDLES, a child process or the handler of a signal runs the same part; with
 * -DPROTECTS, the program makes that part executable itself, with -DDISCARDS it has that read from its file again, and with -DSPINS that
 * part waits in a loop. With -DWRITABLE, a
 * constructor makes that part writable, and `main` writes there; with -DIMPLIES, all memory that can be read can be executed; with -DREFUSES, memory cannot be made executable from a
 * constructor on, and with -DREFUSES_LATE from `main` on. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

#define FILLER(name)                                                                                                   \
    __asm__("    .pushsection .text." #name ", \"ax\", @progbits\n"                                                    \
            "    .globl " #name "\n"                                                                                   \
            "    .type " #name ", @function\n"                                                                         \
            #name ":\n"                                                                                                \
            "    .rept 400000\n"                                                                                       \
            "    movl $1, %eax\n"                                                                                      \
            "    .endr\n"                                                                                              \
            "    ret\n"                                                                                                \
            "    .size " #name ", . - " #name "\n"                                                                     \
            "    .popsection\n")

void before_far(void);
void behind_far(void);
FILLER(before_far);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int announced;
#ifdef SPINS
static atomic_int there;
#endif
static long counter;

/* Between the two fillers. */
__attribute__((noinline, section(".text.far"))) static void far_add(void)
{
#ifdef SPINS
    atomic_fetch_add(&there, 1);
    while (atomic_load(&there) < 2) {
    }
#endif
#ifdef LOCKED
    pthread_mutex_lock(&mutex);
#endif
    counter++;
#ifdef LOCKED
    pthread_mutex_unlock(&mutex);
#endif
}

FILLER(behind_far);

#ifdef HANDLES
static void handle(int number)
{
    (void)number;
    far_add();
}
#endif

static void add(void)
{
#if defined FORKS
    int status;
    if (fork() == 0) {
        far_add();
        _exit((int)counter);
    }
    wait(&status);
    assert(WIFEXITED(status) && WEXITSTATUS(status) > 0);
    far_add();
#elif defined HANDLES
    raise(SIGUSR1);
#elif defined DISCARDS
    madvise((void *)((uintptr_t)far_add & ~(uintptr_t)(PAGE - 1)), 2 * PAGE, MADV_DONTNEED);
    far_add();
#elif defined PROTECTS
    mprotect((void *)((uintptr_t)far_add & ~(uintptr_t)(PAGE - 1)), 2 * PAGE, PROT_READ | PROT_EXEC);
    far_add();
#else
    far_add();
#endif
}

#if defined REFUSES || defined REFUSES_LATE
#ifdef REFUSES
__attribute__((constructor))
#endif
static void refuse(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_READ | PROT_WRITE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int refused = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    assert(!refused);
}
#endif

#ifdef WRITABLE
__attribute__((constructor)) static void make_writable(void)
{
    mprotect((void *)((uintptr_t)far_add & ~(uintptr_t)(PAGE - 1)), 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
}
#endif

#ifdef IMPLIES
__attribute__((constructor)) static void imply(void)
{
    personality(READ_IMPLIES_EXEC);
}
#endif

/* Takes a turn, and adds where the thread that was created has the first one. */
static int run(int turn_to_add_at)
{
    pthread_mutex_lock(&mutex);
    int turn = ++announced;
    pthread_mutex_unlock(&mutex);
    if (turn == turn_to_add_at) {
        add();
    }
    return turn;
}

static void *runs(void *nothing)
{
    run(1);
    return nothing;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argv;
    if (argc > 2) {
        before_far();
        behind_far();
    }
#ifdef HANDLES
    signal(SIGUSR1, handle);
#endif
#ifdef REFUSES_LATE
    refuse();
#endif
#ifdef WRITABLE
    unsigned char volatile *first = (unsigned char volatile *)(uintptr_t)far_add;
    *first = *first;
#endif
    pthread_create(&thread, NULL, runs, NULL);
    int turn = run(2);
    pthread_join(thread, NULL);
    assert(counter == (turn == 2 ? 2 : 0));
    return 0;
}
