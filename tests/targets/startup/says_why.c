/* Ends before, or after, it has created a thread, with the exit code and the words that its arguments say. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *nothing(void *unused)
{
    return unused;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    if (count != 3) {
        fprintf(stderr, "Usage: %s CODE WORDS\n", arguments[0]);
        return 2;
    }
    if (strcmp(arguments[2], "early") != 0) {
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
    }
    puts(arguments[2]);
    if (strcmp(arguments[2], "file") == 0 && fopen("none/such", "r") == NULL)
        perror("none/such");
    return atoi(arguments[1]);
}
