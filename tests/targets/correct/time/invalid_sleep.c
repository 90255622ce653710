// Sleeps and waits of the kernel's that are given no time, or no clock that wakes, are refused at once.

#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int word;

static void refuses(const struct timespec *time, int error)
{
    assert(syscall(SYS_nanosleep, time, NULL) == -1 && errno == error);
    assert(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, time, NULL) == -1 && errno == error);
    assert(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, time, NULL, 0) == -1 && errno == error);
    assert(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, time, NULL, FUTEX_BITSET_MATCH_ANY) == -1 &&
           errno == error);
    assert(syscall(SYS_ppoll, NULL, 0, time, NULL, 8) == -1 && errno == error);
    assert(syscall(SYS_pselect6, 0, NULL, NULL, NULL, time, NULL) == -1 && errno == error);
    sigset_t signals;
    sigemptyset(&signals);
    assert(syscall(SYS_rt_sigtimedwait, &signals, NULL, time, 8) == -1 && errno == error);
}

static void *wait_for_all(void *argument)
{
    struct timespec long_second = {0, 1000000000};
    struct timespec negative = {-1, 0};
    struct timespec negative_rest = {0, -1};
    refuses(&long_second, EINVAL);
    refuses(&negative, EINVAL);
    refuses(&negative_rest, EINVAL);
    refuses((const struct timespec *)16, EFAULT);
    assert(syscall(SYS_nanosleep, NULL, NULL) == -1 && errno == EFAULT);

    struct timespec short_time = {0, 1};
    assert(nanosleep(&long_second, NULL) == -1 && errno == EINVAL);
    assert(clock_nanosleep(CLOCK_REALTIME, 0, &negative, NULL) == EINVAL);
    assert(clock_nanosleep(CLOCK_MONOTONIC_RAW, 0, &short_time, NULL) != 0);
    assert(clock_nanosleep(99, 0, &short_time, NULL) == EINVAL);
    assert(clock_nanosleep(CLOCK_BOOTTIME, 0, &short_time, NULL) == 0);
    return argument;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_all, NULL);
    nanosleep(&(struct timespec){0, 1000}, NULL);
    pthread_join(thread, NULL);
    return 0;
}
