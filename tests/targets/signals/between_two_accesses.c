/* A thread sends main a signal, whose handler comes between two accesses of main's: of a counter, with -DLOCAL of variables on main's
 * stack, or with -DERRNO of what a failed call leaves behind. With -DTRY, main blocks the signal meanwhile, or the handler puts back what it changes. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_t first;
static volatile int counter;
static volatile int *pair = (volatile int[2]){0, 0};

static void handle(int signal)
{
    (void)signal;
#ifdef ERRNO
    int before = errno;
    close(-1);
#ifdef TRY
    errno = before;
#else
    (void)before;
#endif
#else
    assert(pair[0] == pair[1]);
    counter++;
#endif
}

static void *interrupts(void *unused)
{
    pthread_kill(first, SIGUSR1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    sigset_t set;
    first = pthread_self();
    signal(SIGUSR1, handle);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_create(&thread, NULL, interrupts, NULL);
#ifdef ERRNO
    int file = open("/nowhere/at all", O_RDONLY), reason = errno;
    assert(file == -1 && reason == ENOENT);
#else
#ifdef TRY
    pthread_sigmask(SIG_BLOCK, &set, NULL);
#endif
#ifdef LOCAL
    volatile int own[2] = {0, 0};
    pair = own;
    own[0] = 1;
    own[1] = 1;
    counter++;
#else
    int seen = counter;
    counter = seen + 1;
#endif
#ifdef TRY
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
#endif
#endif
    pthread_join(thread, NULL);
#if !defined ERRNO && !defined LOCAL
    assert(counter == 2);
#endif
    return 0;
}
