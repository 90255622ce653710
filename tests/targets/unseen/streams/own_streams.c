/* Two threads write to files of their own, and print under a lock. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int lines;

static void *writes(void *unused)
{
    FILE *own = tmpfile();
    assert(own != NULL && fprintf(own, "%d\n", 42) == 3);
    rewind(own);
    assert(fgetc(own) == '4');
    fclose(own);
    pthread_mutex_lock(&lock);
    printf("line %d\n", ++lines);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, writes, NULL);
    writes(NULL);
    pthread_join(thread, NULL);
    assert(lines == 2);
    return 0;
}
