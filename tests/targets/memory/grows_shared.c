/* A worker lets a list grow that main looks at: whoever kept the address of the list from before uses what is freed. */
#include <pthread.h>
#include <stdlib.h>

static int *list;

static void *grow(void *unused)
{
    list = realloc(list, 2 * sizeof *list);
    list[1] = 2;
    return unused;
}

int main(void)
{
    pthread_t worker;

    list = malloc(sizeof *list);
    list[0] = 1;
    pthread_create(&worker, NULL, grow, NULL);
    int first = *list;
    pthread_join(worker, NULL);
    return first == 1 && list[0] == 1 && list[1] == 2 ? 0 : 1;
}
