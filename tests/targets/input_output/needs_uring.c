/* Two threads, one of which needs io_uring, which a program under exploration is told not to have. */
#include <assert.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *asks(void *unused)
{
    char parameters[120] = {0};
    assert(syscall(SYS_io_uring_setup, 4, parameters) >= 0);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, asks, NULL);
    pthread_join(thread, NULL);
    return 0;
}
