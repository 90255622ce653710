/* A thread counts the lines of its standard input; exits with their number. */
#include <pthread.h>
#include <stdio.h>

static int lines;

static void *count_lines(void *unused)
{
    int letter;

    while ((letter = getchar()) != EOF)
        lines += letter == '\n';
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, count_lines, NULL);
    pthread_join(thread, NULL);
    return lines;
}
