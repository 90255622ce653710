/* Two threads cut up texts with strtok, which keeps its place in a variable of the library. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

static void cuts(char *text)
{
    char *first = strtok(text, " ");
    char *second = strtok(NULL, " ");
    assert(first == text && second == text + 2);
}

static void *other(void *unused)
{
    char text[] = "a b";
    cuts(text);
    return unused;
}

int main(void)
{
    char text[] = "c d";
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    cuts(text);
    pthread_join(thread, NULL);
    return 0;
}
