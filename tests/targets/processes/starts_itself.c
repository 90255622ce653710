/* Two threads count under a lock, and main starts the program again, as a child that does not (its argument is "child"): directly
 * (posix_spawn), or by a shell (system, popen). */
#include <assert.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_child, count;

static void *counts(void *unused)
{
    if (is_child) {
        count++;
    } else {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static int start(const char *how, char *program)
{
    char command[4200];
    snprintf(command, sizeof command, "'%s' child", program);
    if (!strcmp(how, "system"))
        return system(command);
    if (!strcmp(how, "popen"))
        return pclose(popen(command, "r"));
    char *arguments[] = {program, "child", NULL}, *environment[] = {NULL};
    pid_t child;
    int status = -1;
    assert(posix_spawn(&child, program, NULL, NULL, arguments, environment) == 0);
    assert(waitpid(child, &status, 0) == child);
    return status;
}

int main(int argc, char **argv)
{
    assert(argc == 2);
    is_child = !strcmp(argv[1], "child");
    pthread_t thread;
    pthread_create(&thread, NULL, counts, NULL);
    counts(NULL);
    pthread_join(thread, NULL);
    if (is_child)
        return count != 2;
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    assert(length > 0);
    path[length] = 0;
    return start(argv[1], path) != 0;
}
