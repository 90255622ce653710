/* No second thread, but a second process: both add to a number in a page that they share. */
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    int *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = -1;
    pid_t child = fork();

    ++*(volatile int *)shared;
    if (child == 0)
        _exit(0);
    waitpid(child, &status, 0);
    return status;
}
