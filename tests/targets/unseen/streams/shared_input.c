// Two threads read the lines of one stream: a file, memory (-DMEMORY), or the standard input (-DSTANDARD), of
// which one reads a letter. The lines are all read; which thread reads how many depends on the schedule
// (-DCOUNTS).
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *input;
static long sums[2];
static int lines[2];

static void *read_lines(void *second) {
    int me = second != NULL;
#ifdef STANDARD
    if (me) {
        sums[me] = getchar();
        return NULL;
    }
#endif
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, input) != -1) {
        sums[me] += atol(line);
        lines[me]++;
    }
    free(line);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    static char text[] = "1\n20\n300\n";
#ifdef STANDARD
    input = stdin;
#elif defined(MEMORY)
    input = fmemopen(text, sizeof text - 1, "r");
#else
    input = tmpfile();
    fputs(text, input);
    rewind(input);
#endif
    pthread_create(&one, NULL, read_lines, NULL);
    pthread_create(&two, NULL, read_lines, &two);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
#ifdef STANDARD
    assert(sums[0] == 321 && sums[1] == EOF);
#else
    assert(sums[0] + sums[1] == 321);
#endif
#ifdef COUNTS
    assert(lines[0] != 2);
#endif
    return 0;
}
