/* Leaves a file behind that grows with every run, and does more the longer it is: no run is like the one before. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static atomic_int work_done;
static long backlog;

static void *work(void *unused)
{
    for (long i = 0; i < backlog; i++)
        atomic_fetch_add(&work_done, 1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    int file = open("leaves_file.state", O_CREAT | O_RDWR, 0600);

    backlog = lseek(file, 0, SEEK_END);
    if (backlog < 0 || write(file, "x", 1) != 1)
        return 1;
    close(file);
    pthread_create(&thread, NULL, work, NULL);
    atomic_fetch_add(&work_done, 1);
    pthread_join(thread, NULL);
    return 0;
}
