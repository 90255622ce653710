// Two threads write records to one stream, whose lock keeps each call whole. Each record takes two calls:
// -DTOGETHER holds the lock over both, and with -DANY it does not matter what lies between them. -DFLUSHES:
// system calls write the buffer in the midst of calls.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static FILE *records;

static void *write_record(void *name) {
#ifdef TOGETHER
    flockfile(records);
#endif
    fprintf(records, "<%s", (const char *)name);
    fputs(">\n", records);
#ifdef FLUSHES
    fflush(records);
#endif
#ifdef TOGETHER
    funlockfile(records);
#endif
    return NULL;
}

int main(void) {
    pthread_t one, two;
    records = tmpfile();
    pthread_create(&one, NULL, write_record, "one");
    pthread_create(&two, NULL, write_record, "two");
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    char record[16];
    rewind(records);
    for (int i = 0; i < 2; i++) {
        assert(fgets(record, sizeof record, records));
#ifndef ANY
        assert(strcmp(record, "<one>\n") == 0 || strcmp(record, "<two>\n") == 0);
#endif
    }
    fclose(records);
    return 0;
}
