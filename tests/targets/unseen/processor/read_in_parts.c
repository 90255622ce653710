/* The kernel copies what is read from a file while another thread looks at both ends of the buffer. With LOCKED it looks at it before or
 * afterwards. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 4096 };
static char zeros[SIZE];
static volatile char buffer[SIZE];
static int files[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void enter(void)
{
#ifdef LOCKED
    pthread_mutex_lock(&mutex);
#endif
}

static void leave(void)
{
#ifdef LOCKED
    pthread_mutex_unlock(&mutex);
#endif
}

static void *reads(void *unused)
{
    enter();
    assert(read(files[0], (char *)buffer, SIZE) == SIZE);
    leave();
    return unused;
}

int main(void)
{
    pthread_t thread;
    memset((char *)buffer, 1, SIZE);
    assert(pipe(files) == 0);
    assert(write(files[1], zeros, SIZE) == SIZE);
    pthread_create(&thread, NULL, reads, NULL);
    enter();
    char first = buffer[0], last = buffer[SIZE - 1];
    leave();
    assert(first == 1 || last == 0);
    pthread_join(thread, NULL);
    return 0;
}
