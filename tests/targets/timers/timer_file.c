/* A loop waits for a timer's file and for an event, as asynchronous runtimes do: it sets the timer anew for each wait. With -DLATE it
 * is told what it needs only after the timer has been set. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int timer, done;
static int period;

static void set(int microseconds)
{
    struct itimerspec soon = { .it_value = { .tv_nsec = microseconds * 1000 } };

    if (timerfd_settime(timer, 0, &soon, NULL) != 0)
        abort();
}

static void *finish(void *unused)
{
    uint64_t one = 1;

    usleep(2500);
    if (write(done, &one, sizeof one) != sizeof one)
        abort();
    return unused;
}

static void *loop(void *unused)
{
    int set_of_files = epoll_create1(0), ticks = 0, is_done = 0;
    struct epoll_event event = { .events = EPOLLIN };

    event.data.fd = timer;
    epoll_ctl(set_of_files, EPOLL_CTL_ADD, timer, &event);
    event.data.fd = done;
    epoll_ctl(set_of_files, EPOLL_CTL_ADD, done, &event);
    while (!is_done) {
        uint64_t count;

        if (epoll_wait(set_of_files, &event, 1, -1) != 1 || read(event.data.fd, &count, 8) != 8 || count != 1)
            abort();
        if (event.data.fd == done) {
            is_done = 1;
        } else {
            if (period != 1000)
                abort();
            ticks++;
            set(period);
        }
    }
    if (ticks < 2 || read(timer, &ticks, sizeof ticks) != -1)
        abort();
    return unused;
}

int main(void)
{
    pthread_t loops, finishes;

    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    done = eventfd(0, EFD_NONBLOCK);
    pthread_create(&loops, NULL, loop, NULL);
    pthread_create(&finishes, NULL, finish, NULL);
#ifdef LATE
    set(60);
    __atomic_store_n(&period, 1000, __ATOMIC_SEQ_CST);
#else
    __atomic_store_n(&period, 1000, __ATOMIC_SEQ_CST);
    set(60);
#endif
    pthread_join(loops, NULL);
    pthread_join(finishes, NULL);
    return 0;
}
