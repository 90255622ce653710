/* The threads of a program that is traced. */
#define _GNU_SOURCE
#include "stepper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of what a program writes to standard error, not more than this is read. */
enum { MOST_TEXT = 4096 };

struct thread threads[MOST_THREADS];
uintptr_t image_start, image_end;
int created;

/* The way in which each thread came to be: its creator and the number of the threads that that one had created. */
static struct { int parent, child; } names[MOST_THREADS];
static int named;

static pid_t process;
/* A new thread that has stopped before its creator. */
static pid_t newcomer;
static int errors;
static bool has_ended;
static int status_at_end;

void refuse(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    fputs("stepper: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    exit(REFUSED);
}

/* The number of a thread, or -1 of one that is not known yet. */
static int number_of(pid_t tid)
{
    for (int thread = 0; thread < named; thread++)
        if (threads[thread].exists && threads[thread].tid == tid)
            return thread;
    return -1;
}

static int add(pid_t tid, int parent)
{
    int child = parent < 0 ? 0 : threads[parent].children++;
    int thread = 0;

    while (thread < named && (names[thread].parent != parent || names[thread].child != child))
        thread++;
    if (thread == MOST_THREADS)
        refuse("there are more than %d threads", MOST_THREADS);
    if (thread == named) {
        names[named].parent = parent;
        names[named++].child = child;
    }
    threads[thread] = (struct thread){ .tid = tid, .exists = true };
    return thread;
}

/* Runs in the child. Its environment is empty, and its addresses are the same each time. */
static void execute(char **program, int output)
{
    struct rlimit none = { 0, 0 };
    int nothing = open("/dev/null", O_RDWR);
    char *environment[] = { NULL };

    setrlimit(RLIMIT_CORE, &none);
    if (personality(ADDR_NO_RANDOMIZE) < 0 || nothing < 0)
        _exit(127);
    dup2(nothing, 0);
    dup2(nothing, 1);
    dup2(output, 2);
    close(nothing);
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    execve(program[0], program, environment);
    _exit(127);
}

/* Finds the program's own code among the mappings: from the beginning of its file on. */
static void find_image(const char *program)
{
    char path[64], line[8192], real[4096];
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%d/maps", process);
    maps = fopen(path, "r");
    if (!maps || !realpath(program, real))
        refuse("the mappings of the program cannot be read");
    image_start = UINTPTR_MAX;
    image_end = 0;
    while (fgets(line, sizeof line, maps)) {
        char rights[8], name[4096] = "";
        unsigned long start, end;

        if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %4095s", &start, &end, rights, name) < 4 || strcmp(name, real))
            continue;
        image_start = start < image_start ? start : image_start;
        if (strchr(rights, 'x'))
            image_end = end;
    }
    fclose(maps);
}

/* Takes the status of every thread of a process that ends. */
static enum stop drain(void)
{
    int status;
    pid_t tid;

    while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
        if (tid > 0 && WIFSTOPPED(status))
            ptrace(PTRACE_CONT, tid, 0, 0);
        else if (tid == process)
            status_at_end = status;
    }
    has_ended = true;
    return ENDED;
}

/* Finds out why a thread has stopped. */
static enum stop reason(int thread, int status)
{
    pid_t tid = threads[thread].tid;
    int signal = WSTOPSIG(status), event = status >> 16;
    unsigned long message = 0;
    struct __ptrace_syscall_info call;
    siginfo_t info;

    switch (event) {
    case 0:
        break;
    case PTRACE_EVENT_CLONE:
        ptrace(PTRACE_GETEVENTMSG, tid, 0, &message);
        if (newcomer != (pid_t)message && waitpid((pid_t)message, &status, __WALL) < 0)
            refuse("a new thread does not stop");
        newcomer = 0;
        created = add((pid_t)message, thread);
        return CREATED;
    case PTRACE_EVENT_EXEC:
        return EXECUTED;
    default:
        refuse("the program has another process");
    }
    if (signal == (SIGTRAP | 0x80)) {
        if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof call, &call) < 0)
            refuse("system calls cannot be told");
        return call.op == PTRACE_SYSCALL_INFO_ENTRY ? AT_CALL : AFTER_CALL;
    }
    if (signal == SIGTRAP && !ptrace(PTRACE_GETSIGINFO, tid, 0, &info)) {
        if (info.si_code == TRAP_HWBKPT)
            return AT_BREAKPOINT;
        if (info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT)
            return STEPPED;
    }
    threads[thread].signal = signal;
    return AT_SIGNAL;
}

/* Looks at a call before it begins: whether the thread has to wait in it, or ends the process. */
static enum stop look_at_call(int thread)
{
    struct __ptrace_syscall_info call;

    ptrace(PTRACE_GET_SYSCALL_INFO, threads[thread].tid, sizeof call, &call);
    if (call.entry.nr == SYS_exit && threads[thread].tid == process)
        refuse("the first thread ends before the others");
    if (call.entry.nr == SYS_exit_group) {
        ptrace(PTRACE_CONT, threads[thread].tid, 0, 0);
        return drain();
    }
    if (call.entry.nr != SYS_futex)
        return AT_CALL;
    switch (call.entry.args[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAKE:
        return AT_CALL;
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        if (call.entry.args[3])
            refuse("a thread waits for a time");
        threads[thread].is_waiting = true;
        threads[thread].futex = call.entry.args[0];
        threads[thread].expected = (uint32_t)call.entry.args[2];
        return AT_CALL;
    default:
        refuse("a futex is used in a way that is not known");
    }
}

enum stop resume(int thread, int request)
{
    struct thread *one = &threads[thread];
    int status;

    one->is_waiting = false;
    if (ptrace(request, one->tid, 0, (long)one->signal))
        return drain();
    one->signal = 0;
    for (;;) {
        pid_t tid = waitpid(-1, &status, __WALL);
        int of;

        if (tid < 0 && errno == EINTR)
            continue;
        if (tid < 0)
            return drain();
        of = number_of(tid);
        if (of < 0) {
            newcomer = tid;
            continue;
        }
        if (WIFSIGNALED(status) || (WIFEXITED(status) && tid == process)) {
            if (tid == process)
                status_at_end = status;
            return drain();
        }
        if (WIFEXITED(status))
            threads[of].is_over = true;
        else if (of != thread)
            refuse("a thread has stopped that was not running");
        if (of == thread)
            break;
    }
    if (one->is_over)
        return OVER;
    enum stop stop = reason(thread, status);
    return stop == AT_CALL ? look_at_call(thread) : stop;
}

bool start(char **program)
{
    int ends[2], status;
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                   PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    enum stop stop;

    memset(threads, 0, sizeof threads);
    has_ended = false;
    newcomer = 0;
    status_at_end = 0;
    if (pipe2(ends, O_CLOEXEC) || (process = fork()) < 0)
        refuse("the program cannot be started");
    if (!process)
        execute(program, ends[1]);
    close(ends[1]);
    errors = ends[0];
    if (waitpid(process, &status, __WALL) != process || !WIFSTOPPED(status))
        refuse("the program cannot be started without address randomisation");
    if (ptrace(PTRACE_SETOPTIONS, process, 0, options))
        refuse("the program cannot be traced");
    add(process, -1);
    while ((stop = resume(0, PTRACE_CONT)) != CREATED) {
        if (stop == ENDED)
            return false;
        if (stop == EXECUTED)
            find_image(program[0]);
    }
    return true;
}

bool is_runnable(int thread)
{
    struct thread *one = &threads[thread];
    uint32_t word = 0;
    struct iovec here = { &word, sizeof word }, there = { (void *)one->futex, sizeof word };

    if (!one->exists || one->is_over || has_ended)
        return false;
    if (!one->is_waiting)
        return true;
    if (process_vm_readv(process, &here, 1, &there, 1, 0) != sizeof word)
        return true;
    return word != one->expected;
}

uintptr_t at(int thread)
{
    return (uintptr_t)ptrace(PTRACE_PEEKUSER, threads[thread].tid, offsetof(struct user, regs.rip), 0);
}

bool is_call(int thread)
{
    return (ptrace(PTRACE_PEEKTEXT, threads[thread].tid, at(thread), 0) & 0xffff) == 0x050f;
}

void break_at(int thread, uintptr_t address)
{
    pid_t tid = threads[thread].tid;
    long address_register = offsetof(struct user, u_debugreg[0]), control = offsetof(struct user, u_debugreg[7]);

    if (ptrace(PTRACE_POKEUSER, tid, control, 0L))
        refuse("debug registers cannot be written");
    if (address && (ptrace(PTRACE_POKEUSER, tid, address_register, address) || ptrace(PTRACE_POKEUSER, tid, control, 1L)))
        refuse("debug registers cannot be written");
}

/* The first line of a text that is one word, or else its first line; tabulators separate columns of the output. */
static void summarise(char *text, char *words)
{
    char *rest = text, *line, *found = NULL;

    words[0] = 0;
    while ((line = strsep(&rest, "\n")))
        if (*line && (!found || (strchr(found, ' ') && !strchr(line, ' '))))
            found = line;
    if (found)
        snprintf(words, MOST_WORDS, "%s", found);
    for (char *letter = words; *letter; letter++)
        if (*letter == '\t')
            *letter = ' ';
}

void finish(bool is_deadlock, char *how, char *words)
{
    char text[MOST_TEXT + 1];
    ssize_t length = 0, more;

    if (!has_ended) {
        kill(process, SIGKILL);
        drain();
    }
    while (length < MOST_TEXT && (more = read(errors, text + length, MOST_TEXT - length)) > 0)
        length += more;
    close(errors);
    text[length] = 0;
    summarise(text, words);
    if (is_deadlock)
        snprintf(how, MOST_WORDS, "deadlock");
    else if (WIFSIGNALED(status_at_end))
        snprintf(how, MOST_WORDS, "signal %d", WTERMSIG(status_at_end));
    else
        snprintf(how, MOST_WORDS, "exit %d", WEXITSTATUS(status_at_end));
}
