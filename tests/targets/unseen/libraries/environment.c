/* Two threads work on the environment. With -DTRY, both lock a mutex for it.
 *
 * Without more, each adds to the number that a variable tells. With -DZONE, one sets the time zone for a moment, in which the other asks for
 * the hour. With -DTEXT, one changes for a moment the text that the other makes a variable of. With -DITSELF, the number is looked up in the
 * list of the variables that the program has. With -DPUTS, each makes a string of its own the variable. With -DSTORES, one changes for a moment
 * the string that is the variable, and with -DLISTS the list, while the other looks the variable up. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef TRY
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define ENTER pthread_mutex_lock(&lock)
#define LEAVE pthread_mutex_unlock(&lock)
#else
#define ENTER (void)0
#define LEAVE (void)0
#endif

#ifdef ZONE

static void *travels(void *unused)
{
    ENTER;
    setenv("TZ", "XYZ-5", 1);
    tzset();
    setenv("TZ", "UTC", 1);
    tzset();
    LEAVE;
    return unused;
}

static void *asks(void *unused)
{
    const time_t noon = 12 * 60 * 60;
    struct tm now;

    ENTER;
    localtime_r(&noon, &now);
    LEAVE;
    assert(now.tm_hour == 12);
    return unused;
}

#elif defined TEXT

static char text[] = "0";

static void *travels(void *unused)
{
    ENTER;
    text[0] = '1';
    setenv("OTHER", "1", 1);
    text[0] = '0';
    LEAVE;
    return unused;
}

static void *asks(void *unused)
{
    ENTER;
    setenv("NUMBER", text, 1);
    const char *number = getenv("NUMBER");
    LEAVE;
    assert(!strcmp(number, "0"));
    return unused;
}

#elif defined STORES || defined LISTS

#ifdef LISTS
extern char **environ;
#define CHANGED environ[0]
#define TO NULL
#else
static char string[] = "NUMBER=0";
#define CHANGED string[0]
#define TO 'M'
#endif

static void *travels(void *unused)
{
    ENTER;
    __typeof__(CHANGED) volatile *changed = &CHANGED, before = *changed;
    *changed = TO;
    *changed = before;
    LEAVE;
    return unused;
}

static void *asks(void *unused)
{
    ENTER;
    assert(getenv("NUMBER"));
    LEAVE;
    return unused;
}

#else

#ifdef ITSELF
extern char **environ;

static int number(void)
{
    for (char **variable = environ; *variable; variable++)
        if (!strncmp(*variable, "NUMBER=", 7))
            return atoi(*variable + 7);
    return -1;
}
#else
static int number(void)
{
    return atoi(getenv("NUMBER"));
}
#endif

static void *adds(void *unused)
{
    ENTER;
    char text[20];
    snprintf(text, sizeof text, "NUMBER=%d", number() + 1);
#ifdef PUTS
    putenv(strdup(text));
#else
    setenv("NUMBER", text + strlen("NUMBER="), 1);
#endif
    LEAVE;
    return unused;
}

#endif

int main(void)
{
    pthread_t thread;

    setenv("TZ", "UTC", 1);
    tzset();
    setenv("NUMBER", "0", 1);
#ifdef STORES
    putenv(string);
#endif
#if defined ZONE || defined TEXT || defined STORES || defined LISTS
    pthread_create(&thread, NULL, travels, NULL);
    asks(NULL);
    pthread_join(thread, NULL);
#else
    pthread_create(&thread, NULL, adds, NULL);
    adds(NULL);
    pthread_join(thread, NULL);
    assert(number() == 2);
#endif
    return 0;
}
