/* One thread makes a call whose outcome the kernel decides by what another thread tells it. With -DTRY, the other one does so afterwards. The
 * argument chooses the call: a barrier for which the process is not registered, a mapping of a file that is not sealed, or a wait for
 * files that a signal ends, which the thread blocks otherwise. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *what;
static int file;
static sigset_t blocked;

static int is(const char *call)
{
    return strcmp(what, call) == 0;
}

static void handle(int signal)
{
    (void)signal;
}

static void *relies(void *unused)
{
    if (is("barrier")) {
        assert(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == -1);
    } else if (is("seal")) {
        assert(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) != MAP_FAILED);
    } else {
        struct epoll_event event;
        struct timespec limit = {0, 1000000};
        int waited, set = epoll_create1(0);
        sigset_t own;
        sigemptyset(&own);
        sigaddset(&own, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &own, NULL);
        raise(SIGUSR1);
        if (is("wait"))
            waited = epoll_pwait(set, &event, 1, 1, &blocked);
        else
            waited = epoll_pwait2(set, &event, 1, &limit, &blocked);
        assert(waited == -1 && errno == EINTR);
    }
    return unused;
}

static void *tells(void *unused)
{
    if (is("barrier"))
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    else if (is("seal"))
        fcntl(file, F_ADD_SEALS, F_SEAL_WRITE);
    else
        sigaddset(&blocked, SIGUSR1);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t first, second;
    assert(argc == 2);
    what = argv[1];
    signal(SIGUSR1, handle);
    sigemptyset(&blocked);
    file = memfd_create("file", MFD_ALLOW_SEALING);
    assert(ftruncate(file, 4096) == 0);
    pthread_create(&first, NULL, relies, NULL);
#ifdef TRY
    pthread_join(first, NULL);
#endif
    pthread_create(&second, NULL, tells, NULL);
#ifndef TRY
    pthread_join(first, NULL);
#endif
    pthread_join(second, NULL);
    return 0;
}
