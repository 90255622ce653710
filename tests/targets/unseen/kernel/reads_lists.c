/* The kernel, or a process that is started, reads what a list names: one thread changes the list meanwhile. The argument chooses which. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *what;
static char command[] = "true";
static char *arguments[] = {"sh", "-c", "test $# = 0", "sh", NULL, NULL};
static struct iovec pieces[2];
static int pipe_ends[2];

static void change(volatile char *text)
{
    /* No program has this name. */
    text[0] = 'T';
    text[0] = 't';
}

static void *changes(void *unused)
{
    if (!strcmp(what, "pieces")) {
        volatile size_t *length = &pieces[1].iov_len;
        *length = 0;
        *length = 1;
    } else if (!strcmp(what, "command")) {
        change(command);
    } else {
        *(char *volatile *)&arguments[4] = "-x";
        *(char *volatile *)&arguments[4] = NULL;
    }
    return unused;
}

int main(int count, char **given)
{
    extern char **environ;
    pthread_t thread;

    assert(count == 2);
    what = given[1];
    assert(pipe(pipe_ends) == 0);
    pieces[0] = (struct iovec){"a", 1};
    pieces[1] = (struct iovec){"b", 1};
    pthread_create(&thread, NULL, changes, NULL);
    if (!strcmp(what, "pieces")) {
        assert(writev(pipe_ends[1], pieces, 2) == 2);
    } else if (!strcmp(what, "command")) {
        assert(system(command) == 0);
    } else {
        pid_t child;
        int status;
        assert(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0);
        assert(waitpid(child, &status, 0) == child && status == 0);
    }
    pthread_join(thread, NULL);
    return 0;
}
