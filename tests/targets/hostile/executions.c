/* Runs a command, and writes down every program that it or a descendant of it executes: executions LOG COMMAND [ARGUMENT...]

   A seccomp filter hands each execve and execveat over to this process, which reads the name, notes it, and lets the call go
   on. Unlike ptrace, that leaves the command free to trace. The log holds one path after another, each with a NUL behind it.
   Exits as the command does, or with 125 where the kernel does not permit this. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int notes;

static void give_up(const char *what)
{
    fprintf(stderr, "executions cannot be watched on this machine: %s: %s\n", what, strerror(errno));
    exit(125);
}

static int install(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        /* 32-bit calls have other numbers: nothing may slip through by them. */
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        give_up("no_new_privs");
    int listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (listener < 0)
        give_up("seccomp user notification");
    return listener;
}

union control {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
};

static struct msghdr message(union control *control)
{
    static char byte;
    static struct iovec part = {&byte, 1};
    return (struct msghdr){.msg_iov = &part, .msg_iovlen = 1, .msg_control = control->room, .msg_controllen = sizeof control->room};
}

static void hand_over(int socket, int file)
{
    union control control = {0};
    struct msghdr all = message(&control);
    struct cmsghdr *header = CMSG_FIRSTHDR(&all);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(header), &file, sizeof file);
    if (sendmsg(socket, &all, 0) != 1)
        give_up("sendmsg");
    close(file);
}

/* -1 where the other side has given up. */
static int take(int socket)
{
    union control control = {0};
    struct msghdr all = message(&control);
    int file = -1;
    if (recvmsg(socket, &all, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&all))
        memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&all)), sizeof file);
    return file;
}

/* A text at an address of another process, which may end before the page does. */
static void read_text(pid_t process, unsigned long address, char text[PATH_MAX])
{
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/mem", process);
    int memory = open(name, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    while (memory >= 0 && length < PATH_MAX - 1 && pread(memory, text + length, 1, address + length) == 1 && text[length])
        length++;
    text[length] = 0;
    if (memory >= 0)
        close(memory);
}

/* The file that a process means by a name. */
static void note(pid_t process, int folder, const char *name)
{
    char link[64], place[PATH_MAX] = "", whole[2 * PATH_MAX + 2], real[PATH_MAX];
    if (folder == AT_FDCWD)
        snprintf(link, sizeof link, "/proc/%d/cwd", process);
    else
        snprintf(link, sizeof link, "/proc/%d/fd/%d", process, folder);
    if (readlink(link, place, sizeof place - 1) < 0)
        place[0] = 0;
    if (strncmp(name, "/proc/self/", 11) == 0)
        snprintf(whole, sizeof whole, "/proc/%d/%s", process, name + 11);
    else if (name[0] == '/')
        snprintf(whole, sizeof whole, "%s", name);
    else
        snprintf(whole, sizeof whole, name[0] ? "%s/%s" : "%s%s", place, name);
    const char *known = realpath(whole, real) ? real : whole;
    if (write(notes, known, strlen(known) + 1) < 0)
        give_up("the log");
}

static void answer(int listener)
{
    struct seccomp_notif asked = {0};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0)
        return;
    int is_at = asked.data.nr == SYS_execveat;
    char name[PATH_MAX];
    read_text(asked.pid, asked.data.args[is_at], name);
    /* Else another process may have the number by now; nothing was executed then. */
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &asked.id) != 0)
        return;
    note(asked.pid, is_at ? (int)asked.data.args[0] : AT_FDCWD, name);
    struct seccomp_notif_resp goes_on = {.id = asked.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &goes_on);
}

int main(int count, char **arguments)
{
    int pair[2];
    if (count < 3 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        give_up("executions LOG COMMAND");
    notes = open(arguments[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (notes < 0)
        give_up(arguments[1]);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        hand_over(pair[1], install());
        execvp(arguments[2], arguments + 2);
        give_up(arguments[2]);
    }
    close(pair[1]);
    int listener = take(pair[0]), status = 125 << 8;
    int ends = syscall(SYS_pidfd_open, child, 0);
    /* Signals for the command are sent to it, and to this process where a group gets them: the command decides. */
    signal(SIGINT, SIG_IGN);
    struct pollfd both[] = {{listener, POLLIN, 0}, {ends, POLLIN, 0}};
    while (listener >= 0 && poll(both, 2, -1) > 0 && !both[1].revents)
        if (both[0].revents & POLLIN)
            answer(listener);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
