/* Leaves a file behind and does something else when it finds one: the second run is not like the first. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static atomic_int work_done;
static int is_first_run;

static void *work(void *unused)
{
    if (is_first_run)
        atomic_fetch_add(&work_done, 1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    int file = open("leaves_file.state", O_CREAT | O_EXCL | O_WRONLY, 0600);

    is_first_run = file >= 0;
    pthread_create(&thread, NULL, work, NULL);
    atomic_fetch_add(&work_done, 1);
    pthread_join(thread, NULL);
    close(file);
    return 0;
}
