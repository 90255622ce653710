/* Threads meet by what the kernel alone knows of. The argument chooses how: how many threads wait for a semaphore, names
 * that are watched, the list of threads, the list of mappings; or a call whose meaning is not known.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *what;
static int file;

static void *meets(void *unused)
{
    if (!strcmp(what, "semaphore")) {
        struct sembuf up = { 0, 1, IPC_NOWAIT }, down = { 0, -1, IPC_NOWAIT };
        semop(file, &up, 1);
        semop(file, &down, 1);
    }
    return unused;
}

static int threads(void)
{
    int count = 0;
    DIR *list = opendir("/proc/self/task");
    for (struct dirent *entry; (entry = readdir(list));)
        count += entry->d_name[0] != '.';
    closedir(list);
    return count;
}

static int mappings(void)
{
    char text[4096];
    int list = open("/proc/self/maps", O_RDONLY);
    ssize_t length = read(list, text, sizeof text);
    close(list);
    return length > 0;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    assert(argc == 2);
    what = argv[1];
    if (!strcmp(what, "semaphore")) {
        file = semget(IPC_PRIVATE, 1, 0600);
    } else if (!strcmp(what, "watch")) {
        inotify_add_watch(inotify_init1(IN_NONBLOCK), "/tmp", IN_CREATE);
    }
    pthread_create(&thread, NULL, meets, NULL);
    int is_right = 1;
    if (!strcmp(what, "semaphore"))
        is_right = semctl(file, 0, GETNCNT) >= 0;
    else if (!strcmp(what, "threads"))
        is_right = threads() > 0;
    else if (!strcmp(what, "mappings"))
        is_right = mappings();
    else if (!strcmp(what, "kcmp"))
        syscall(SYS_kcmp, getpid(), getpid(), 0, 1, 1);
    pthread_join(thread, NULL);
    if (!strcmp(what, "semaphore"))
        semctl(file, 0, IPC_RMID);
    assert(is_right);
    return 0;
}
