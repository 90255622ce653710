/* Two threads have a descriptor in common, and so a position in what it is open for: one moves it away and back, and the other one goes on from
 * there. The argument says how it does: it asks for the position in a folder, reads the next names, or reads a file by a call that could
 * name a place and does not. With -DTRY, both lock a mutex for it. */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock __attribute__((unused)) = PTHREAD_MUTEX_INITIALIZER;
static int opened;

static void *moves(void *unused)
{
#ifdef TRY
    pthread_mutex_lock(&lock);
#endif
    char names[1024];
    /* A folder has no other positions than those behind a name. */
    if (syscall(SYS_getdents64, opened, names, sizeof names) < 0)
        lseek(opened, 1, SEEK_SET);
    lseek(opened, 0, SEEK_SET);
#ifdef TRY
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

static void goes_on(const char *how)
{
    char names[1024], read = 0;
    struct iovec buffer = {&read, sizeof read};
#ifdef TRY
    pthread_mutex_lock(&lock);
#endif
    if (!strcmp(how, "ask"))
        assert(lseek(opened, 0, SEEK_CUR) == 0);
    else if (!strcmp(how, "names"))
        assert(syscall(SYS_getdents64, opened, names, sizeof names) > 0);
    else
        assert(preadv2(opened, &buffer, 1, -1, 0) == 1 && read == 'a');
#ifdef TRY
    lseek(opened, 0, SEEK_SET);
    pthread_mutex_unlock(&lock);
#endif
}

int main(int argc, char **argv)
{
    pthread_t thread;
    assert(argc == 2);
    if (!strcmp(argv[1], "file")) {
        opened = open("letters", O_CREAT | O_TRUNC | O_RDWR, 0600);
        assert(opened >= 0 && write(opened, "ab", 2) == 2 && lseek(opened, 0, SEEK_SET) == 0);
    } else
        assert((opened = open(".", O_RDONLY | O_DIRECTORY)) >= 0);
    pthread_create(&thread, NULL, moves, NULL);
    goes_on(argv[1]);
    pthread_join(thread, NULL);
    return 0;
}
