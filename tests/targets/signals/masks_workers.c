/* Workers block all signals, and send some to the process: its main thread gets each of them once, with its sender and its value. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static pthread_t chief;
static int sum, workers;

static void handle(int number, siginfo_t *info, void *unused)
{
    (void)unused;
    assert(pthread_equal(pthread_self(), chief));
    assert(info->si_pid == getpid() && info->si_uid == getuid());
    __atomic_fetch_add(&sum, number == SIGUSR1 ? 100 : info->si_value.sival_int, __ATOMIC_SEQ_CST);
}

static void *work(void *unused)
{
    kill(getpid(), SIGUSR1);
    sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_int = 1 });
    sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_int = 10 });
    __atomic_fetch_add(&workers, 1, __ATOMIC_SEQ_CST);
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };
    pthread_t worker;
    sigset_t all, none;

    chief = pthread_self();
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGRTMIN, &action, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &none);
    pthread_create(&worker, NULL, work, NULL);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    __atomic_fetch_add(&workers, 1, __ATOMIC_SEQ_CST);
    pthread_join(worker, NULL);
    assert(workers == 2 && sum == 111);
    return 0;
}
