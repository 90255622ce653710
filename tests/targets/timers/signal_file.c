/* A thread reads signals from a file. With -DTWICE it is sent the same one twice and reads two: they may be one. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#ifdef TWICE
#define COUNT 2
#else
#define COUNT 1
#endif

static int file;

static void *read_signals(void *unused)
{
    int files = epoll_create1(0);
    struct epoll_event event = { .events = EPOLLIN };
    struct signalfd_siginfo told;

    epoll_ctl(files, EPOLL_CTL_ADD, file, &event);
    for (int i = 0; i < COUNT; i++) {
        if (epoll_wait(files, &event, 1, -1) != 1 || read(file, &told, sizeof told) != sizeof told)
            return NULL;
        if (told.ssi_signo != SIGUSR1 || told.ssi_pid != (unsigned)getpid())
            return NULL;
    }
    return unused;
}

int main(void)
{
    sigset_t signals;
    pthread_t thread;
    void *result;

    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    file = signalfd(-1, &signals, SFD_CLOEXEC);
    pthread_create(&thread, NULL, read_signals, &file);
    for (int i = 0; i < COUNT; i++)
        kill(getpid(), SIGUSR1);
    pthread_join(thread, &result);
    return result == &file ? 0 : 1;
}
