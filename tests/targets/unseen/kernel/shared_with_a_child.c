/* A process and its child, which is not scheduled, add to a counter in memory that they share: what is lost is up to the machine. */
#include <assert.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void *nothing(void *unused)
{
    return unused;
}

int main(void)
{
    pthread_t thread;
    int *counter = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(counter != MAP_FAILED);
    pthread_create(&thread, NULL, nothing, NULL);
    pid_t child = fork();
    ++*(volatile int *)counter;
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    pthread_join(thread, NULL);
    assert(*counter == 2);
    return 0;
}
