/* A client: sends a byte over so many connections at once, and then reads an answer from each. With a number, it asks for that
   last, and fails if it is told another one. */
#include "client.h"

int main(int count, char **words)
{
    int connections = count > 1 ? atoi(words[1]) : 1;
    int all[8];
    char answer;
    for (int i = 0; i < connections; i++) {
        all[i] = connected();
        checked((int)write(all[i], "+", 1), "write");
    }
    for (int i = 0; i < connections; i++) {
        if (read(all[i], &answer, 1) != 1) {
            fprintf(stderr, "connection %d has no answer\n", i);
            return 1;
        }
        close(all[i]);
    }
    if (count > 2) {
        int last = connected();
        checked((int)write(last, "?", 1), "write");
        if (read(last, &answer, 1) != 1 || answer != words[2][0]) {
            fprintf(stderr, "%s were expected\n", words[2]);
            return 1;
        }
    }
    return 0;
}
