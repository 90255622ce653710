/* A thread writes more than a pipe (or with the argument "socket", a stream) has room for, and main reads it. With -DUNREAD main reads the first
 * bytes only, and waits for the writer; with -DTWO a second thread writes as much, and the bytes of both are mixed where they take turns. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static ssize_t size;
static int ends[2];

static void *writes(void *letter)
{
    char *bytes = malloc(size);
    assert(bytes);
    memset(bytes, *(char *)letter, size);
    assert(write(ends[1], bytes, size) == size);
    free(bytes);
    return NULL;
}

int main(int argc, char **argv)
{
    static char letters[] = "ab";
    pthread_t threads[2];
    int writers = 1;
    assert(argc == 2);
    if (!strcmp(argv[1], "socket")) {
        size = 300 * 1024;
        assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    } else {
        size = 80 * 1024;
        assert(pipe(ends) == 0);
    }
    char *bytes = malloc(2 * size);
    assert(bytes);
    ssize_t got = 0, expected = size;
#ifdef UNREAD
    expected = 1;
#endif
#ifdef TWO
    writers = 2;
#endif
    for (int i = 0; i < writers; i++)
        pthread_create(&threads[i], NULL, writes, &letters[i]);
    for (expected *= writers; got < expected;) {
        ssize_t more = read(ends[0], bytes + got, expected - got);
        assert(more > 0);
        got += more;
    }
    for (int i = 0; i < writers; i++)
        pthread_join(threads[i], NULL);
    int turns = 0;
    for (ssize_t i = 1; i < got; i++)
        turns += bytes[i] != bytes[i - 1];
    assert(turns == writers - 1);
    free(bytes);
    return 0;
}
