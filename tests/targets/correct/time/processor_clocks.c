/* Clocks of processor time do not go on while a thread sleeps, and do while it works. */
#include <assert.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static long now(clockid_t clock) {
    struct timespec time;
    assert(clock_gettime(clock, &time) == 0);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void *sleep_and_work(void *unused) {
    (void)unused;
    clockid_t own;
    assert(pthread_getcpuclockid(pthread_self(), &own) == 0);
    const clockid_t clocks[] = {CLOCK_THREAD_CPUTIME_ID, CLOCK_PROCESS_CPUTIME_ID, own};
    for (int i = 0; i < 3; i++) {
        long real = now(CLOCK_MONOTONIC);
        long before = now(clocks[i]);
        usleep(500000);
        long slept = now(clocks[i]);
        assert(slept > before && slept - before < 250000000L);
        assert(now(CLOCK_MONOTONIC) - real >= 500000000L);
    }
    clock_t begun = clock();
    while (clock() - begun < CLOCKS_PER_SEC / 100)
        ;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_and_work, NULL);
    pthread_join(thread, NULL);
    return clock() < CLOCKS_PER_SEC / 100;
}
