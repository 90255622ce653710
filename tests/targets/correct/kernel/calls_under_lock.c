/* Threads change what the kernel keeps of their process, and look at it, under a lock. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *changes(void *own)
{
    mode_t mask = *(mode_t *)own;
    pthread_mutex_lock(&mutex);
    mode_t before = umask(mask);
    int copy = dup(STDIN_FILENO);
    assert(umask(before) == mask);
    close(copy);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    static mode_t masks[] = {027, 077};
    pthread_t thread;
    pthread_create(&thread, NULL, changes, &masks[0]);
    changes(&masks[1]);
    pthread_join(thread, NULL);
    return 0;
}
