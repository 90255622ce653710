/* Runs a program that is not permitted one thing: `without THING PROGRAM ARG...`. What is refused fails with EPERM. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct thing {
    const char *name;
    int call;
    /* Only with this first argument; any if it is -1. */
    int argument;
} things[] = {
    { "trace", SYS_ptrace, -1 },
    { "filter", SYS_prctl, PR_SET_SECCOMP },
    { "personality", SYS_personality, -1 },
    { "affinity", SYS_sched_setaffinity, -1 },
    { "clone", SYS_clone, -1 },
    { "clone3", SYS_clone3, -1 },
    { "fork", SYS_fork, -1 },
    { "vfork", SYS_vfork, -1 },
};

int main(int count, char **words)
{
    const struct thing *thing = NULL;

    for (size_t i = 0; count > 2 && i < sizeof things / sizeof *things; i++)
        if (strcmp(things[i].name, words[1]) == 0)
            thing = &things[i];
    if (!thing)
        return 97;

    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, thing->call, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, thing->argument, 0, thing->argument < 0 ? 0 : 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { sizeof rules / sizeof *rules, rules };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        return 99;
    execv(words[2], words + 2);
    perror(words[2]);
    return 98;
}
