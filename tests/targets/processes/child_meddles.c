/* A child that no thread waits for at first. The argument chooses how threads come upon it: by the signal of its end ("end"), by asking
 * for that ("ask"), by a signal that it sends ("kill"), by a file that it makes ("file"). With "wait", they only wait for it. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static const char *way;

static void handle(int signal)
{
    if (signal == SIGCHLD)
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
}

static void *rests(void *unused)
{
    return unused;
}

int main(int count, char **arguments)
{
    way = count > 1 ? arguments[1] : "wait";
    signal(SIGUSR1, handle);
    if (!strcmp(way, "end"))
        signal(SIGCHLD, handle);
    pthread_t thread;
    pthread_create(&thread, NULL, rests, NULL);
    char *command = !strcmp(way, "kill") ? "kill -USR1 $PPID" : !strcmp(way, "file") ? "echo > made" : "true";
    char *words[] = {"sh", "-c", command, NULL};
    pid_t child;
    assert(posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) == 0);
    if (!strcmp(way, "ask"))
        assert(waitpid(child, NULL, WNOHANG) == 0);
    if (!strcmp(way, "file"))
        assert(access("made", F_OK) != 0);
    pid_t ended = waitpid(child, NULL, 0);
    assert(ended == child || strcmp(way, "end") != 0);
    pthread_join(thread, NULL);
    return 0;
}
