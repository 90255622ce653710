/* A function of the C library reads what its argument points to, twice, and another thread changes that: between the two it may
 * have changed. The argument chooses the function. With PRIVATE the thread changes other memory, and nothing is shared. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <wchar.h>

union memory {
    char text[64];
    wchar_t wide[16];
    cpu_set_t processors;
    sigset_t signals;
    struct sched_param priority;
};

static int counts(union memory *from) { return CPU_COUNT(&from->processors); }
static int opens(union memory *from)
{
    FILE *stream = fopen(from->text, "r");
    return stream == NULL ? errno : fclose(stream);
}
static int asks_for_file_system(union memory *from)
{
    struct statvfs about;
    return statvfs(from->text, &about) == 0 ? 0 : errno;
}
static int sets_signals(union memory *from)
{
    pthread_attr_t attributes;
    sigset_t set;
    pthread_attr_init(&attributes);
    pthread_attr_setsigmask_np(&attributes, &from->signals);
    pthread_attr_getsigmask_np(&attributes, &set);
    pthread_attr_destroy(&attributes);
    return sigismember(&set, SIGUSR1);
}
static int sets_processors(union memory *from)
{
    pthread_attr_t attributes;
    cpu_set_t set;
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof set, &from->processors);
    pthread_attr_getaffinity_np(&attributes, sizeof set, &set);
    pthread_attr_destroy(&attributes);
    return CPU_COUNT(&set);
}
static int wide(union memory *from)
{
    char text[64];
    return snprintf(text, sizeof text, "%ls", from->wide);
}
static int behind_long_double(union memory *from)
{
    char text[64];
    return snprintf(text, sizeof text, "%.1Lf %s", 1.5L, from->text);
}
static int by_number(union memory *from)
{
    char text[64];
    return snprintf(text, sizeof text, "%2$d %1$s", from->text, 7);
}

static const struct {
    const char *name;
    int (*call)(union memory *);
    union memory before, after;
} functions[] = {
    {"CPU_COUNT", counts, {""}, {"\1"}},
    {"fopen", opens, {"/dev/null"}, {"/dev/nothing"}},
    {"statvfs", asks_for_file_system, {"/dev/null"}, {"/dev/nothing"}},
    {"pthread_attr_setsigmask_np", sets_signals, {""}, {{[1] = 2}}},
    {"pthread_attr_setaffinity_np", sets_processors, {"\1"}, {"\3"}},
    {"%ls", wide, {.wide = L"one"}, {.wide = L"three"}},
    {"%Lf", behind_long_double, {"one"}, {"three"}},
    {"%1$s", by_number, {"one"}, {"three"}},
};

static union memory shared, other;
static size_t chosen;

static void *change(void *unused)
{
#ifdef PRIVATE
    memcpy(&other, &functions[chosen].after, sizeof other);
#else
    memcpy(&shared, &functions[chosen].after, sizeof shared);
#endif
    return unused;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    assert(count == 2);
    while (strcmp(functions[chosen].name, arguments[1]) != 0)
        chosen++;
    shared = functions[chosen].before;
    other = functions[chosen].before;
    pthread_create(&thread, NULL, change, NULL);
    int first = functions[chosen].call(&shared), second = functions[chosen].call(&shared);
    pthread_join(thread, NULL);
    assert(first == second);
    return 0;
}
