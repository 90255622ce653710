/* Programs that do not come back by themselves, or not soon; the argument says which. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];
static volatile int never;
static char **words;

static void pause_for_ever(void)
{
    for (;;)
        pause();
}

static void *pauses(void *unused)
{
    pause_for_ever();
    return unused;
}

static void *tells_and_pauses(void *unused)
{
    if (write(ends[1], "x", 1) != 1)
        abort();
    return pauses(unused);
}

static void *loops(void *unused)
{
    for (;;)
        ;
    return unused;
}

static void *waits_for_a_flag(void *unused)
{
    for (unsigned long rounds = 0; !never; rounds++)
        ;
    return unused;
}

static void *forks_sleepers(void *unused)
{
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            sleep(1000);
            _exit(0);
        }
    return unused;
}

static void *forks_families(void *unused)
{
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            for (int k = 0; k < 2; k++)
                if (fork() == 0)
                    pause_for_ever();
            pause_for_ever();
        }
    return unused;
}

static void *executes_again(void *unused)
{
    execl("/proc/self/exe", words[0], "end", (char *)0);
    return unused;
}

static void *executes_sleep(void *unused)
{
    execl("/proc/self/exe", words[0], "pause", (char *)0);
    return unused;
}

static void *stops(void *unused)
{
    raise(SIGSTOP);
    kill(getpid(), SIGSTOP);
    return unused;
}

/* The parent of such a child cannot be stopped until that executes another program or ends. */
static void *lends_its_memory(void *unused)
{
    if (vfork() == 0) {
        for (;;)
            syscall(SYS_pause);
    }
    return unused;
}

static void *waits_for_a_child(void *unused)
{
    pid_t child = fork();
    if (child == 0)
        pause_for_ever();
    waitpid(child, 0, 0);
    return unused;
}

static void *kills_a_child_with_threads(void *unused)
{
    char byte;
    if (pipe(ends) != 0)
        abort();
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        pthread_create(&thread, 0, tells_and_pauses, 0);
        pause_for_ever();
    }
    if (read(ends[0], &byte, 1) != 1)
        abort();
    kill(child, SIGKILL);
    waitpid(child, 0, 0);
    return unused;
}

static void *traces_a_child(void *unused)
{
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        _exit(0);
    }
    int status;
    while (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status))
        ptrace(PTRACE_CONT, child, 0, 0);
    return unused;
}

static void *is_traced_by_a_child(void *unused)
{
    pid_t parent = getpid();
    if (fork() == 0) {
        ptrace(PTRACE_ATTACH, parent, 0, 0);
        ptrace(PTRACE_SEIZE, getppid(), 0, 0);
        pause_for_ever();
    }
    return unused;
}

static void *leaves_a_daemon(void *unused)
{
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0)
            for (;;)
                ;
        _exit(0);
    }
    waitpid(child, 0, 0);
    return unused;
}

static void again(int signal) { raise(signal); }

static void *signals_itself(void *unused)
{
    signal(SIGUSR1, again);
    raise(SIGUSR1);
    return unused;
}

static void *forks_for_ever(void *unused)
{
    for (;;) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, 0, 0);
    }
    return unused;
}

/* Waits in the kernel that nothing ends. */

static void *waits_in_a_pipe(void *unused)
{
    int own[2];
    char byte;
    if (pipe(own) != 0 || read(own[0], &byte, 1) != 1)
        abort();
    return unused;
}

static void *accepts(void *unused)
{
    struct sockaddr_un nameless = {.sun_family = AF_UNIX};
    int door = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(door, (struct sockaddr *)&nameless, sizeof nameless.sun_family);
    listen(door, 1);
    accept(door, 0, 0);
    return unused;
}

static void *waits_for_a_futex(void *unused)
{
    static int word;
    for (;;)
        syscall(SYS_futex, &word, FUTEX_WAIT, 0, 0, 0, 0);
    return unused;
}

static void *polls_nothing(void *unused)
{
    poll(0, 0, -1);
    return unused;
}

static void *locks_a_file_twice(void *unused)
{
    for (int i = 0; i < 2; i++)
        flock(open("/proc/self/exe", O_RDONLY), LOCK_EX);
    return unused;
}

static void *sleeps_for_years(void *unused)
{
    for (;;)
        sleep(1000000000);
    return unused;
}

static void *locks_itself(void *unused)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    return unused;
}

static void *waits_for_a_stopped_child(void *unused)
{
    pid_t child = fork();
    if (child == 0) {
        raise(SIGSTOP);
        _exit(0);
    }
    waitpid(child, 0, 0);
    return unused;
}

/* Signals that do not end what they should. */

static void *takes_no_signal(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, 0);
    return loops(unused);
}

static void goes_on(int signal) { (void)signal; }

static void *faults_for_ever(void *unused)
{
    signal(SIGSEGV, goes_on);
    *(volatile int *)16 = 1;
    return unused;
}

static jmp_buf before;
static void jumps_back(int signal)
{
    (void)signal;
    siglongjmp(before, 1);
}

static void *aborts_for_ever(void *unused)
{
    signal(SIGABRT, jumps_back);
    sigsetjmp(before, 1);
    abort();
    return unused;
}

static void *alarms_itself(void *unused)
{
    struct itimerval often = {{0, 1}, {0, 1}};
    signal(SIGALRM, goes_on);
    setitimer(ITIMER_REAL, &often, 0);
    return loops(unused);
}

static void *stops_its_parent(void *unused)
{
    for (;;) {
        kill(getppid(), SIGSTOP);
        syscall(SYS_tgkill, getppid(), getppid(), SIGSTOP);
    }
    return unused;
}

/* Processes that trace, execute, and share. */

static void *children_trace_each_other(void *unused)
{
    pid_t first = fork();
    if (first == 0)
        pause_for_ever();
    pid_t second = fork();
    if (second == 0) {
        ptrace(PTRACE_ATTACH, first, 0, 0);
        pause_for_ever();
    }
    ptrace(PTRACE_SEIZE, second, 0, 0);
    ptrace(PTRACE_INTERRUPT, second, 0, 0);
    return unused;
}

static void *traces_and_forgets(void *unused)
{
    if (fork() == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execl("/proc/self/exe", words[0], "pause", (char *)0);
    }
    pause_for_ever();
    return unused;
}

static void *executes_for_ever(void *unused)
{
    execl("/proc/self/exe", words[0], "executes-for-ever", (char *)0);
    return unused;
}

/* Whoever looks for it finds that it has ended. */
static void *moves_on(void *unused)
{
    if (fork() == 0)
        for (;;)
            if (fork() != 0)
                _exit(0);
    return unused;
}

static void *creates_threads_for_ever(void *unused)
{
    for (;;) {
        pthread_t thread;
        if (pthread_create(&thread, 0, pauses, 0) != 0)
            return loops(unused);
    }
}

static int loops_beside(void *unused)
{
    loops(unused);
    return 0;
}

static void *shares_its_memory(void *unused)
{
    static char stack[65536];
    clone(loops_beside, stack + sizeof stack, CLONE_VM | CLONE_FILES | SIGCHLD, 0);
    return unused;
}

static void *lends_it_on(void *unused)
{
    if (vfork() == 0) {
        if (vfork() == 0)
            for (;;)
                syscall(SYS_pause);
        for (;;)
            syscall(SYS_pause);
    }
    return unused;
}

static void *hides_in_a_namespace(void *unused)
{
    if (fork() == 0) {
        unshare(CLONE_NEWUSER | CLONE_NEWPID);
        if (fork() == 0) {
            setsid();
            fork();
        }
        pause_for_ever();
    }
    return unused;
}

/* What the process has. */

static void *keeps_the_output(void *unused)
{
    if (fork() == 0) {
        setsid();
        signal(SIGTERM, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        pause_for_ever();
    }
    return unused;
}

static void *writes_for_ever(void *unused)
{
    static char page[4096];
    memset(page, 'x', sizeof page);
    while (write(1, page, sizeof page) >= 0)
        ;
    return unused;
}

static void *maps_for_ever(void *unused)
{
    for (;;)
        mmap(0, 1 << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return unused;
}

static void *cannot_exit(void *unused)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    for (;;)
        syscall(SYS_exit_group, 0);
    return unused;
}

static void *hides_its_memory(void *unused)
{
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return waits_for_a_flag(unused);
}

static void *pauses_at_exit(void *unused)
{
    atexit(pause_for_ever);
    exit(0);
    return unused;
}

static const struct {
    const char *name;
    void *(*run)(void *);
} all[] = {
    {"loops", loops},
    {"waits-for-a-flag", waits_for_a_flag},
    {"pauses", pauses},
    {"forks-sleepers", forks_sleepers},
    {"forks-families", forks_families},
    {"forks-for-ever", forks_for_ever},
    {"executes-again", executes_again},
    {"executes-sleep", executes_sleep},
    {"stops", stops},
    {"lends-its-memory", lends_its_memory},
    {"waits-for-a-child", waits_for_a_child},
    {"kills-a-child-with-threads", kills_a_child_with_threads},
    {"traces-a-child", traces_a_child},
    {"is-traced-by-a-child", is_traced_by_a_child},
    {"leaves-a-daemon", leaves_a_daemon},
    {"signals-itself", signals_itself},
    {"waits-in-a-pipe", waits_in_a_pipe},
    {"accepts", accepts},
    {"waits-for-a-futex", waits_for_a_futex},
    {"polls-nothing", polls_nothing},
    {"locks-a-file-twice", locks_a_file_twice},
    {"sleeps-for-years", sleeps_for_years},
    {"locks-itself", locks_itself},
    {"waits-for-a-stopped-child", waits_for_a_stopped_child},
    {"takes-no-signal", takes_no_signal},
    {"faults-for-ever", faults_for_ever},
    {"aborts-for-ever", aborts_for_ever},
    {"alarms-itself", alarms_itself},
    {"stops-its-parent", stops_its_parent},
    {"children-trace-each-other", children_trace_each_other},
    {"traces-and-forgets", traces_and_forgets},
    {"executes-for-ever", executes_for_ever},
    {"moves-on", moves_on},
    {"creates-threads-for-ever", creates_threads_for_ever},
    {"shares-its-memory", shares_its_memory},
    {"lends-it-on", lends_it_on},
    {"hides-in-a-namespace", hides_in_a_namespace},
    {"keeps-the-output", keeps_the_output},
    {"writes-for-ever", writes_for_ever},
    {"maps-for-ever", maps_for_ever},
    {"cannot-exit", cannot_exit},
    {"hides-its-memory", hides_its_memory},
    {"pauses-at-exit", pauses_at_exit},
};

/* The first argument says what a thread does, the second one what main does beside it. */
int main(int count, char **arguments)
{
    words = arguments;
    void *(*runs[2])(void *) = {0, 0};
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "end") == 0)
            return 0;
        if (strcmp(arguments[i], "pause") == 0)
            pause_for_ever();
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            if (strcmp(all[k].name, arguments[i]) == 0)
                runs[i - 1] = all[k].run;
    }
    pthread_t thread;
    pthread_create(&thread, 0, runs[0], 0);
    if (runs[1])
        runs[1](0);
    pthread_join(thread, 0);
    return 0;
}
