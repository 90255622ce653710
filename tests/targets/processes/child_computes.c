// A child computes for a while, and says so through a pipe: correct, however long that takes on a busy machine.
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *count(void *argument)
{
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return argument;
}

/* For some tens of milliseconds of processor time. */
static void compute(void)
{
    for (volatile unsigned long rounds = 0; rounds < 60000000; rounds++)
        ;
}

int main(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return 2;
    pid_t child = fork();
    if (child == 0) {
        compute();
        _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    pthread_t thread;
    pthread_create(&thread, NULL, count, NULL);
    char answer;
    if (read(ends[0], &answer, 1) != 1)
        abort();
    count(NULL);
    pthread_join(thread, NULL);
    waitpid(child, NULL, 0);
    return counter == 2 ? 0 : 1;
}
