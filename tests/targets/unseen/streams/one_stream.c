/* Two threads write to one stream; main expects its own character first. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static FILE *stream;

static void *writes(void *unused)
{
    fputc('b', stream);
    return unused;
}

int main(void)
{
    pthread_t thread;
    stream = tmpfile();
    assert(stream != NULL);
    pthread_create(&thread, NULL, writes, NULL);
    fputc('a', stream);
    pthread_join(thread, NULL);
    rewind(stream);
    assert(fgetc(stream) == 'a');
    fclose(stream);
    return 0;
}
