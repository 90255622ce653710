/* Two threads call functions of the C library that another thread can find half done. With -DTRY, both lock a mutex for it.
 *
 * With -DREMOVES, one removes the first variable of the environment while the other looks up the last one. With -DMAKES, both ask for more
 * memory at the end of the program's data. With -DWRITES, both write to the standard output without its lock. With -DREPLACES, one gives the
 * standard output another file for a moment, in which the other writes to it. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef TRY
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define ENTER pthread_mutex_lock(&lock)
#define LEAVE pthread_mutex_unlock(&lock)
#else
#define ENTER (void)0
#define LEAVE (void)0
#endif

#if defined REMOVES

static void *creates(void *unused)
{
    ENTER;
    unsetenv("FIRST");
    LEAVE;
    return unused;
}

static void prepare(void)
{
    clearenv();
    setenv("FIRST", "1", 1);
    setenv("LAST", "2", 1);
}

static void goes_on(void)
{
    ENTER;
    const char *last = getenv("LAST");
    LEAVE;
    assert(last);
}

static void look(const void *result)
{
    (void)result;
}

#elif defined MAKES

static void *own;

static void *creates(void *unused)
{
    (void)unused;
    ENTER;
    void *made = sbrk(16);
    LEAVE;
    return made;
}

static void prepare(void)
{
}

static void goes_on(void)
{
    ENTER;
    own = sbrk(16);
    LEAVE;
}

static void look(const void *result)
{
    assert(result != own);
}

#elif defined REPLACES

static FILE *other;
static char *written;
static size_t len;

static void *creates(void *unused)
{
    FILE *own = stdout, *volatile *place = (FILE * volatile *)&stdout;
    ENTER;
    *place = other;
    *place = own;
    LEAVE;
    return unused;
}

static void prepare(void)
{
    other = open_memstream(&written, &len);
}

static void goes_on(void)
{
    ENTER;
    puts("line");
    LEAVE;
}

static void look(const void *result)
{
    (void)result;
    fclose(other);
    assert(len == 0);
}

#else

static char buffer[16];

static void *creates(void *unused)
{
    ENTER;
    (putchar_unlocked)('a');
    LEAVE;
    return unused;
}

static void prepare(void)
{
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    putchar(' ');
}

static void goes_on(void)
{
    ENTER;
    (putchar_unlocked)('b');
    LEAVE;
}

/* No character overwrites another one. */
static void look(const void *result)
{
    (void)result;
    assert(buffer[1] + buffer[2] == 'a' + 'b');
}

#endif

int main(void)
{
    pthread_t thread;
    void *result;
    prepare();
    pthread_create(&thread, NULL, creates, NULL);
    goes_on();
    pthread_join(thread, &result);
    look(result);
    return 0;
}
