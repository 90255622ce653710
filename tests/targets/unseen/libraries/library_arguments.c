/* A thread has a function of the C library write to memory that main reads twice: between the two it may have changed. The
 * argument chooses the function. With PRIVATE main calls it for memory of its own, as the thread does, and nothing is shared. */
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

union memory {
    unsigned char bytes[4096];
    char text[4096];
    wchar_t wide[64];
    struct tm date;
    Dl_info symbol;
    struct passwd user;
    regmatch_t match;
    int number;
    char *pointer;
    pthread_attr_t attributes;
    pthread_mutexattr_t kind;
    sigset_t signals;
    cpu_set_t processors;
    pthread_t thread;
    double real;
    struct timespec time;
};

static const time_t YEARS = 400 * 86400;
static double EIGHT = 8;

static void gmtime_to(union memory *into) { gmtime_r(&YEARS, &into->date); }
static void localtime_to(union memory *into) { localtime_r(&YEARS, &into->date); }
static void mktime_of(union memory *into) { into->date.tm_mday = 40; mktime(&into->date); }
static void asctime_to(union memory *into) { struct tm date = {0}; asctime_r(&date, into->text); }
static void ctime_to(union memory *into) { ctime_r(&YEARS, into->text); }
static void strftime_to(union memory *into) { struct tm date = {0}; strftime(into->text, 64, "%Y", &date); }
static void strerror_to(union memory *into) { char *text = strerror_r(9999, into->text, 64); assert(text != NULL); }
static void mbstowcs_to(union memory *into) { assert(mbstowcs(into->wide, "abc", 8) == 3); }
static void wcstombs_to(union memory *into) { assert(wcstombs(into->text, L"abc", 8) == 3); }
static void sscanf_to(union memory *into) { assert(sscanf("12 x", "%d", &into->number) == 1); }
static void asprintf_to(union memory *into) { assert(asprintf(&into->pointer, "%d", 12) == 2); }
static void realpath_to(union memory *into) { assert(realpath("/dev/null", into->text) != NULL); }
static void dladdr_to(union memory *into) { assert(dladdr(&YEARS, &into->symbol) != 0); }
static void getpwuid_to(union memory *into)
{
    char names[1024];
    struct passwd *found;
    into->number = 1;
    getpwuid_r(0, &into->user, names, sizeof names, &found);
}
static void regexec_to(union memory *into)
{
    regex_t pattern;
    assert(regcomp(&pattern, "b", 0) == 0);
    assert(regexec(&pattern, "aab", 1, &into->match, 0) == 0);
    regfree(&pattern);
}

static void attr_init_of(union memory *into)
{
    pthread_attr_init(&into->attributes);
    pthread_attr_setstacksize(&into->attributes, 1 << 20);
}
static void settype_of(union memory *into)
{
    pthread_mutexattr_init(&into->kind);
    pthread_mutexattr_settype(&into->kind, PTHREAD_MUTEX_RECURSIVE);
}
static void sigaddset_to(union memory *into) { sigaddset(&into->signals, SIGUSR1); }
static void cancelstate_to(union memory *into)
{
    into->number = 7;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &into->number);
}
static void getname_to(union memory *into) { pthread_getname_np(pthread_self(), into->text, 16); }
static void getaffinity_to(union memory *into) { pthread_getaffinity_np(pthread_self(), 64, &into->processors); }
static void memalign_to(union memory *into) { assert(posix_memalign((void **)&into->pointer, 64, 64) == 0); }
static void getentropy_to(union memory *into) { assert(getentropy(into->bytes, 16) == 0); }
static void *ends(void *unused) { return unused; }
static void create_to(union memory *into)
{
    assert(pthread_create(&into->thread, NULL, ends, NULL) == 0);
}
static void getvalue_to(union memory *into)
{
    sem_t semaphore;
    sem_init(&semaphore, 0, 3);
    sem_getvalue(&semaphore, &into->number);
}

static void frexp_to(union memory *into) { assert(frexp(*(volatile double *)&EIGHT, &into->number) == 0.5); }
static void modf_to(union memory *into) { assert(modf(*(volatile double *)&EIGHT, &into->real) == 0); }
static void timespec_to(union memory *into) { assert(timespec_get(&into->time, TIME_UTC) == TIME_UTC); }

static int descending(const void *one, const void *other, void *unused)
{
    assert(unused == NULL);
    return *(const unsigned char *)other - *(const unsigned char *)one;
}
static void sorted(union memory *into)
{
    qsort_r(into->bytes, 4, 64, descending, NULL);
}

static const struct {
    const char *name;
    void (*call)(union memory *);
} functions[] = {
    {"gmtime_r", gmtime_to}, {"localtime_r", localtime_to}, {"mktime", mktime_of}, {"asctime_r", asctime_to},
    {"ctime_r", ctime_to}, {"strftime", strftime_to}, {"strerror_r", strerror_to}, {"mbstowcs", mbstowcs_to},
    {"wcstombs", wcstombs_to}, {"sscanf", sscanf_to}, {"asprintf", asprintf_to}, {"realpath", realpath_to},
    {"dladdr", dladdr_to}, {"getpwuid_r", getpwuid_to}, {"regexec", regexec_to}, {"pthread_attr_init", attr_init_of},
    {"pthread_mutexattr_settype", settype_of}, {"sigaddset", sigaddset_to}, {"pthread_setcancelstate", cancelstate_to},
    {"pthread_getname_np", getname_to}, {"pthread_getaffinity_np", getaffinity_to}, {"posix_memalign", memalign_to},
    {"getentropy", getentropy_to}, {"pthread_create", create_to}, {"sem_getvalue", getvalue_to}, {"frexp", frexp_to},
    {"modf", modf_to}, {"timespec_get", timespec_to}, {"qsort_r", sorted},
};

/* The last of four rows is the greatest one. */
static union memory shared = {{[3 * 64] = 1}}, own;
static void (*chosen)(union memory *);

static void *call(void *unused)
{
    chosen(&shared);
    return unused;
}

static unsigned sum(const volatile unsigned char *bytes)
{
    enum { FIRST = 24 };
    unsigned all = 0;
    for (int i = 0; i < FIRST; i++)
        all += bytes[i];
    return all;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    assert(count == 2);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, arguments[1]) == 0)
            chosen = functions[i].call;
    assert(chosen != NULL);
    pthread_create(&thread, NULL, call, NULL);
#ifdef PRIVATE
    chosen(&own);
    unsigned before = sum(own.bytes), after = sum(own.bytes);
#else
    unsigned before = sum(shared.bytes), after = sum(shared.bytes);
#endif
    pthread_join(thread, NULL);
    assert(before == after);
    return 0;
}
