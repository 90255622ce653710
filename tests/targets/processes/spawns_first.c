/* Starts another program, and then loses an update: what is shared with the child until its exec must stay watched. */
#include <assert.h>
#include <pthread.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

static int *counter;

static void *count(void *unused)
{
    *counter = *counter + 1;
    return unused;
}

static void run_another_program(void)
{
    char *words[] = { "sh", "-c", "exit 7", NULL };
    int status = -1;
    pid_t child;

    assert(posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) == 0);
    assert(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
}

int main(void)
{
    pthread_t first, second;

    counter = calloc(1, sizeof *counter);
    pthread_create(&first, NULL, count, NULL);
    run_another_program();
    pthread_create(&second, NULL, count, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(*counter == 2);
    return 0;
}
