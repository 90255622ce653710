// However a program asks, it gets one answer to how many processors there are at most.

#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static void *nothing(void *argument)
{
    return argument;
}

int main(void)
{
    cpu_set_t set;
    assert(sched_getaffinity(0, sizeof set, &set) == 0);
    assert(CPU_COUNT(&set) >= 1 && CPU_COUNT(&set) <= sysconf(_SC_NPROCESSORS_CONF));
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    return 0;
}
