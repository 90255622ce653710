/* What the kernel keeps of a process belongs to all of its threads: the second thread changes it and changes it back, and the
 * first one relies on it meanwhile. The argument chooses what it is.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char *what;
static char folder[4096];
static int file, next, listening, talking;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t length = sizeof(sa_family_t);
static struct rlimit limit;
static volatile sig_atomic_t handled;

static void handle(int signal)
{
    (void)signal;
    handled = 1;
}

static void limit_files(rlim_t most)
{
    struct rlimit changed = limit;
    changed.rlim_cur = most;
    setrlimit(RLIMIT_NOFILE, &changed);
}

static void limit_core(rlim_t most)
{
    struct rlimit changed;
    getrlimit(RLIMIT_CORE, &changed);
    changed.rlim_cur = most;
    assert(setrlimit(RLIMIT_CORE, &changed) == 0);
}

static void *changes(void *unused)
{
    if (!strcmp(what, "mask")) {
        umask(0077);
        umask(0022);
    } else if (!strcmp(what, "folder")) {
        assert(chdir("/") == 0);
        assert(chdir(folder) == 0);
    } else if (!strcmp(what, "limit")) {
        limit_files(3);
        limit_files(limit.rlim_cur);
    } else if (!strcmp(what, "core")) {
        limit_core(1);
        limit_core(0);
    } else if (!strcmp(what, "signal")) {
        signal(SIGUSR1, SIG_IGN);
        signal(SIGUSR1, handle);
    } else if (!strcmp(what, "length")) {
        assert(write(file, "1", 1) == 1);
        assert(ftruncate(file, 0) == 0);
    } else if (!strcmp(what, "mode")) {
        fchmod(file, 0);
        fchmod(file, 0600);
    } else if (!strcmp(what, "descriptor")) {
        close(file);
        assert(open("file", O_RDWR) == file);
    } else if (!strcmp(what, "number")) {
        close(open("/dev/null", O_RDONLY));
    } else if (!strcmp(what, "name")) {
        char name[16];
        prctl(PR_GET_NAME, name);
        assert(strcmp(name, "worker") == 0);
    } else if (!strcmp(what, "group")) {
        assert(setpgid(0, 0) == 0);
    } else if (!strcmp(what, "bound")) {
        assert(bind(talking, (struct sockaddr *)&address, sizeof(sa_family_t)) == 0);
    } else if (!strcmp(what, "connected")) {
        assert(connect(talking, (struct sockaddr *)&address, length) == 0);
    } else if (!strcmp(what, "listening")) {
        assert(listen(talking, 1) == 0);
    } else if (!strcmp(what, "identity")) {
        assert(setegid(getegid()) == 0);
    }
    return unused;
}

static void relies(pthread_t thread)
{
    struct stat about;
    if (!strcmp(what, "mask")) {
        int made = open("made", O_CREAT | O_RDWR, 0666);
        assert(fstat(made, &about) == 0 && (about.st_mode & 0777) == 0644);
    } else if (!strcmp(what, "folder")) {
        assert(access("file", F_OK) == 0);
    } else if (!strcmp(what, "limit")) {
        assert(dup(file) >= 0);
    } else if (!strcmp(what, "core")) {
        struct rlimit found;
        assert(getrlimit(RLIMIT_CORE, &found) == 0 && found.rlim_cur == 0);
    } else if (!strcmp(what, "signal")) {
        raise(SIGUSR1);
        assert(handled);
    } else if (!strcmp(what, "length")) {
        assert(stat("file", &about) == 0 && about.st_size == 0);
    } else if (!strcmp(what, "mode")) {
        assert(fstat(file, &about) == 0 && (about.st_mode & 0777) == 0600);
    } else if (!strcmp(what, "descriptor")) {
        assert(fstat(file, &about) == 0);
    } else if (!strcmp(what, "number")) {
        assert(open("/dev/null", O_RDONLY) == next);
    } else if (!strcmp(what, "name")) {
        pthread_setname_np(thread, "worker");
    } else if (!strcmp(what, "group")) {
        assert(getpgrp() != getpid());
    } else if (!strcmp(what, "bound")) {
        struct sockaddr_un found;
        socklen_t size = sizeof found;
        assert(getsockname(talking, (struct sockaddr *)&found, &size) == 0 && size == sizeof(sa_family_t));
    } else if (!strcmp(what, "connected")) {
        struct sockaddr_un found;
        socklen_t size = sizeof found;
        assert(getpeername(talking, (struct sockaddr *)&found, &size) != 0);
    } else if (!strcmp(what, "listening")) {
        int found = 0;
        socklen_t size = sizeof found;
        assert(getsockopt(talking, SOL_SOCKET, SO_ACCEPTCONN, &found, &size) == 0 && !found);
    } else if (!strcmp(what, "identity")) {
        assert(getegid() == getegid());
    }
}

/* One socket that listens at a name that the kernel has chosen, and another one; to listen, that needs a name as well. */
static void make_sockets(void)
{
    listening = socket(AF_UNIX, SOCK_STREAM, 0);
    talking = socket(AF_UNIX, SOCK_STREAM, 0);
    assert(bind(listening, (struct sockaddr *)&address, length) == 0 && listen(listening, 1) == 0);
    if (!strcmp(what, "listening"))
        assert(bind(talking, (struct sockaddr *)&address, length) == 0);
    length = sizeof address;
    assert(getsockname(listening, (struct sockaddr *)&address, &length) == 0);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    assert(argc == 2);
    what = argv[1];
    umask(0022);
    signal(SIGUSR1, handle);
    getrlimit(RLIMIT_NOFILE, &limit);
    assert(getcwd(folder, sizeof folder));
    unlink("made");
    make_sockets();
    file = open("file", O_CREAT | O_TRUNC | O_RDWR, 0600);
    next = dup(file);
    close(next);
    pthread_create(&thread, NULL, changes, NULL);
    relies(thread);
    pthread_join(thread, NULL);
    unlink("file");
    unlink("made");
    return 0;
}
