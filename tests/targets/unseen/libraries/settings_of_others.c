// What a function does depends on what another thread sets: with -DZONE the time zone, in which a number of seconds is read; with -DSIZE the size
// of the stacks of threads that are asked for without one. With -DTRY nothing is asserted.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#ifdef ZONE
static void *set(void *unused)
{
    setenv("TZ", "XYZ-5", 1);
    tzset();
    return unused;
}

static int is_set(void)
{
    struct tm read = {0};
    strptime("0", "%s", &read);
    return read.tm_hour != 0;
}
#else
static const size_t wanted = 1 << 20;

static void *set(void *unused)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, wanted);
    pthread_setattr_default_np(&attributes);
    return unused;
}

static int is_set(void)
{
    pthread_attr_t attributes;
    size_t size;
    pthread_attr_init(&attributes);
    pthread_attr_getstacksize(&attributes, &size);
    return size == wanted;
}
#endif

int main(void)
{
    pthread_t thread;
    int seen;
    setenv("TZ", "UTC", 1);
    tzset();
    pthread_create(&thread, NULL, set, NULL);
    seen = is_set();
    pthread_join(thread, NULL);
#ifndef TRY
    assert(!seen);
#endif
    return is_set() ? 0 : 1;
}
