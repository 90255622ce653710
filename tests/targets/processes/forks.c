/* Forks beside its threads: the child runs unscheduled, the threads are explored as ever. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int ready;

static void *prepare(void *unused)
{
    (void)unused;
    atomic_fetch_add(&ready, 1);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int status = -1;

    pthread_create(&thread, NULL, prepare, NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(atomic_load(&ready) <= 1 ? 7 : 8);
    atomic_fetch_add(&ready, 1);
    waitpid(child, &status, 0);
    pthread_join(thread, NULL);
    return WIFEXITED(status) && WEXITSTATUS(status) == 7 && atomic_load(&ready) == 2 ? 0 : 1;
}
