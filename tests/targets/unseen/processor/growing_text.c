// A text is as long as what a string function comes to when it runs: with one more letter written between, the length that it
// returns is one that neither end of the text alone explains.

#include <assert.h>
#include <pthread.h>
#include <string.h>

static char text[16];
static size_t length;

static void *measure(void *argument)
{
    length = strnlen(text, sizeof text - 1);
    return argument;
}

static void *extend(void *argument)
{
    strcpy(text, "abc");
    ((volatile char *)text)[3] = 'd';
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, measure, NULL);
    pthread_create(&threads[1], NULL, extend, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(length != 3);
    return 0;
}
