/* Correct: a constructor opens a file, or, with -DPIPE, a pipe, which is empty when the threads begin. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

__attribute__((constructor)) static void opens(void)
{
#ifdef PIPE
    assert(pipe(ends) == 0);
#else
    ends[1] = open("written", O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert(ends[1] >= 0);
#endif
}

static void *writes(void *letter)
{
    pthread_mutex_lock(&lock);
    assert(write(ends[1], letter, 1) == 1);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t one, other;
    struct stat file;
    pthread_create(&one, NULL, writes, "a");
    pthread_create(&other, NULL, writes, "b");
    pthread_join(one, NULL);
    pthread_join(other, NULL);
#ifdef PIPE
    char letter;
    assert(read(ends[0], &letter, 1) == 1 && (letter == 'a' || letter == 'b'));
    (void)file;
#else
    assert(fstat(ends[1], &file) == 0 && file.st_size == 2);
#endif
    return 0;
}
