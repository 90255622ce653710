// A wait of 30 s does not run out while another thread yields once and then wakes. With POLLS that thread does nothing but poll, under
// a lock, for what comes after a sleep: for that time passes.

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool done;

static void *wait_or_sleep(void *argument)
{
    struct timespec limit = {.tv_sec = 30};
#ifdef POLLS
    nanosleep(&limit, NULL);
    pthread_mutex_lock(&lock);
#else
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 30;
    pthread_mutex_lock(&lock);
    assert(pthread_cond_timedwait(&changed, &lock, &limit) == 0);
#endif
    done = true;
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void)
{
    pthread_t thread;
    bool is_done = false;
    pthread_create(&thread, NULL, wait_or_sleep, NULL);
    while (!is_done) {
#ifndef POLLS
        pthread_cond_broadcast(&changed);
#endif
        sched_yield();
        pthread_mutex_lock(&lock);
        is_done = done;
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, NULL);
    return 0;
}
