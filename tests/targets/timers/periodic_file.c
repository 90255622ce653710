/* A timer's file that counts: what expires while nobody reads is read at once, and what was set anew has not expired. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static int timer;

static void *nothing(void *unused)
{
    return unused;
}

int main(void)
{
    struct itimerspec often = { .it_value = { .tv_sec = 2 }, .it_interval = { .tv_sec = 1 } }, now;
    struct itimerspec past = { .it_value = { .tv_sec = 1 } };
    struct timespec clock;
    pthread_t thread;
    uint64_t count;

    timer = timerfd_create(CLOCK_REALTIME, 0);
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    if (timerfd_settime(timer, 0, &often, NULL) != 0 || read(timer, &count, 8) != 8 || count != 1)
        return 1;
    sleep(3);
    if (read(timer, &count, 8) != 8 || count < 2 || count > 3)
        return 2;
    if (timerfd_gettime(timer, &now) != 0 || now.it_interval.tv_sec != 1 || now.it_value.tv_sec > 1)
        return 3;
    sleep(3);
    often.it_interval.tv_sec = 0;
    if (timerfd_settime(timer, 0, &often, &now) != 0 || now.it_interval.tv_sec != 1)
        return 4;
    if (read(timer, &count, 8) != 8 || count != 1)
        return 5;
    clock_gettime(CLOCK_REALTIME, &clock);
    if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &past, NULL) != 0 || read(timer, &count, 8) != 8)
        return 6;
    return timerfd_settime(0, 0, &often, NULL) == -1 ? 0 : 7;
}
