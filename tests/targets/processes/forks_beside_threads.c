/* A process is forked while another thread changes what the child looks at: it may see the value between two plain writes. */
#include <pthread.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int value;

static void *change(void *unused)
{
    value = 1;
    value = 2;
    return unused;
}

static void *copy(void *unused)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(value);
    waitpid(child, &status, 0);
    return unused;
}

int main(void)
{
    pthread_t changing, copying;

    pthread_create(&changing, NULL, change, NULL);
    pthread_create(&copying, NULL, copy, NULL);
    pthread_join(changing, NULL);
    pthread_join(copying, NULL);
    return 0;
}
