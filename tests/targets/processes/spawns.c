/* Starts another program and waits for it, beside its threads. */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/wait.h>

extern char **environ;

static atomic_int checked;

static void *check(void *unused)
{
    atomic_fetch_add(&checked, 1);
    return unused;
}

int main(void)
{
    char *words[] = { "sh", "-c", "exit 7", NULL };
    int status = -1;
    pthread_t thread;
    pid_t child;

    pthread_create(&thread, NULL, check, NULL);
    atomic_fetch_add(&checked, 1);
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) != 0)
        return 1;
    waitpid(child, &status, 0);
    pthread_join(thread, NULL);
    return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 2;
}
