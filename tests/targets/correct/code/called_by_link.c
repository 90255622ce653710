// The name by which a program is called decides what it does, as with tools that are links to one file.

#include <pthread.h>
#include <string.h>

static void *nothing(void *argument)
{
    return argument;
}

int main(int count, char **arguments)
{
    (void)count;
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    return strcmp(arguments[0], "./server") != 0;
}
