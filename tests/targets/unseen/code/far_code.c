/* A program with more code than is decoded before executions come to it. What fails is in a part to which one order of events leads.
 * Built with -DLOCKED, that is correct; with -DFORKS or -DHANDLES, a child process or the handler of a signal runs the same part; with
 * -DPROTECTS, the program makes that part executable itself. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
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
static long counter;

/* Between the two fillers. */
__attribute__((noinline, section(".text.far"))) static void far_add(void)
{
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
#elif defined PROTECTS
    mprotect((void *)((uintptr_t)far_add & ~(uintptr_t)(PAGE - 1)), 2 * PAGE, PROT_READ | PROT_EXEC);
    far_add();
#else
    far_add();
#endif
}

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
    pthread_create(&thread, NULL, runs, NULL);
    int turn = run(2);
    pthread_join(thread, NULL);
    assert(counter == (turn == 2 ? 2 : 0));
    return 0;
}
