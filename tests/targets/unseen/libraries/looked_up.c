/* Two threads use a buffer of the C library by a function that the program has looked up before there were threads. */
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

static char *(*text_of)(const struct tm *);

static void writes(int year)
{
    struct tm time = { .tm_year = year, .tm_mday = 1 };
    const char *text = text_of(&time);
    assert(text[23] == '0' + year % 10);
}

static void *other(void *unused)
{
    writes(99);
    return unused;
}

int main(void)
{
    pthread_t thread;
    text_of = (char *(*)(const struct tm *))dlsym(RTLD_DEFAULT, "asctime");
    pthread_create(&thread, NULL, other, NULL);
    writes(88);
    pthread_join(thread, NULL);
    return 0;
}
