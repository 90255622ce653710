/* Programs that do not come back by themselves, or not soon; the argument says which. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
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
