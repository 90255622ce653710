/* A thread ends the process with SIGKILL, which cannot be caught. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static void *give_up(void *unused)
{
    (void)unused;
    kill(getpid(), SIGKILL);
    return NULL;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, give_up, NULL);
    pthread_join(thread, NULL);
    return 0;
}
