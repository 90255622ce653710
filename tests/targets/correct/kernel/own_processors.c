/* The processors on which a thread may run are those that were chosen for it, by itself or by its creator; else its creator's. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>

static cpu_set_t only(long processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    return set;
}

static void expect(pthread_t thread, long processor)
{
    cpu_set_t set, wanted = only(processor);
    assert(pthread_getaffinity_np(thread, sizeof set, &set) == 0);
    assert(CPU_EQUAL(&set, &wanted));
}

static void *was_told(void *processor)
{
    expect(pthread_self(), (long)processor);
    return NULL;
}

static void *chooses(void *processor)
{
    cpu_set_t set = only((long)processor);
    assert(sched_setaffinity(0, sizeof set, &set) == 0);
    return was_told(processor);
}

int main(void)
{
    pthread_t inherits, told, thread;
    pthread_attr_t attributes;
    cpu_set_t set = only(0);

    assert(pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0);
    pthread_create(&inherits, NULL, was_told, (void *)0);
    pthread_attr_init(&attributes);
    set = only(1);
    pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    pthread_create(&told, &attributes, was_told, (void *)1);
    pthread_create(&thread, NULL, chooses, (void *)1);
    expect(pthread_self(), 0);
    pthread_join(inherits, NULL);
    pthread_join(told, NULL);
    pthread_join(thread, NULL);
    return 0;
}
