/* Two threads read a stream: one by a function of the library, the other one by a macro, which is the program's own code. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static FILE *stream;
static int sum;

static void *reads(void *unused)
{
    __atomic_fetch_add(&sum, fgetc(stream), __ATOMIC_SEQ_CST);
    return unused;
}

static void *expands(void *unused)
{
    char *at = stream->_IO_read_ptr;
    stream->_IO_read_ptr = at + 1;
    __atomic_fetch_add(&sum, *at, __ATOMIC_SEQ_CST);
    return unused;
}

int main(void)
{
    pthread_t threads[2];

    stream = tmpfile();
    fputs("abc", stream);
    rewind(stream);
    assert(fgetc(stream) == 'a');
    pthread_create(&threads[0], NULL, reads, NULL);
    pthread_create(&threads[1], NULL, expands, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert(sum == 'b' + 'c');
    return 0;
}
