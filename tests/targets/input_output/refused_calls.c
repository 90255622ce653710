/* Main reads and writes where nothing is to be had, by calls that have an outcome at once; a thread waits for the same files. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int event, ends[2];

static void *waits(void *unused)
{
    uint64_t count;
    char byte;

    assert(read(event, &count, sizeof count) == sizeof count && count == 1);
    assert(read(ends[0], &byte, 1) == 1 && byte == 'x');
    return unused;
}

int main(void)
{
    pthread_t thread;
    uint64_t count = UINT64_MAX;
    char bytes[4];
    sigset_t none;

    sigemptyset(&none);
    event = eventfd(0, 0);
    assert(pipe(ends) == 0);
    int timer = timerfd_create(CLOCK_MONOTONIC, 0), signals = signalfd(-1, &none, 0);
    pthread_create(&thread, NULL, waits, NULL);
    assert(read(event, bytes, sizeof bytes) == -1 && errno == EINVAL);
    assert(read(timer, bytes, sizeof bytes) == -1 && errno == EINVAL);
    assert(read(signals, bytes, sizeof bytes) == -1 && errno == EINVAL);
    assert(write(event, &count, sizeof count) == -1 && errno == EINVAL);
    assert(write(event, bytes, sizeof bytes) == -1 && errno == EINVAL);
    assert(read(ends[0], bytes, 0) == 0);
    assert(read(ends[1], bytes, 1) == -1 && errno == EBADF);
    assert(write(ends[0], bytes, 1) == -1 && errno == EBADF);
    count = 1;
    assert(write(event, &count, sizeof count) == sizeof count);
    assert(write(ends[1], "x", 1) == 1);
    pthread_join(thread, NULL);
    return 0;
}
