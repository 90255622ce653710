/* Leaves a file behind when there is none, and does less when there is one: only the very first run is different. */
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int work_done;

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    work_done++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    int is_first = access("finds_file.state", F_OK) != 0;

    close(open("finds_file.state", O_CREAT | O_RDWR, 0600));
    pthread_create(&thread, NULL, work, NULL);
    if (is_first)
        work(NULL);
    work(NULL);
    pthread_join(thread, NULL);
    return 0;
}
