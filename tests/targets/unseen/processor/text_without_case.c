/* A text is compared twice by a function that the C library chooses when it is loaded; another thread changes it between. */
#include <assert.h>
#include <pthread.h>
#include <strings.h>

static volatile char text[] = "one";

static void *changes(void *unused)
{
    text[0] = 't';
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, changes, NULL);
    int first = strcasecmp((char *)text, "ONE") == 0;
    __asm__ volatile("" ::: "memory");
    int second = strcasecmp((char *)text, "ONE") == 0;
    assert(first == second);
    pthread_join(thread, NULL);
    return 0;
}
