/* Two threads leave by pthread_exit, and add to a number in the handler that this runs: to one that the kernel keeps, in two calls. The
 * C library loads the library that unwinds a stack when the first thread leaves. The argument chooses where the number is.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *what;
static int number, stream;

static void copy(int *to, int *from)
{
    struct iovec local = {to, sizeof *to}, remote = {from, sizeof *from};
    assert(process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == sizeof *to);
}

static int get(void)
{
    int found = 0;
    socklen_t size = sizeof found;
    struct sigaction action;
    if (!strcmp(what, "memory")) {
        copy(&found, &number);
    } else if (!strcmp(what, "option")) {
        assert(getsockopt(stream, SOL_SOCKET, SO_PRIORITY, &found, &size) == 0);
    } else {
        assert(sigaction(SIGUSR1, NULL, &action) == 0);
        found = sigismember(&action.sa_mask, SIGINT) + 2 * sigismember(&action.sa_mask, SIGHUP);
    }
    return found;
}

static void put(int value)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    if (!strcmp(what, "memory")) {
        copy(&number, &value);
    } else if (!strcmp(what, "option")) {
        assert(setsockopt(stream, SOL_SOCKET, SO_PRIORITY, &value, sizeof value) == 0);
    } else {
        if (value & 1)
            sigaddset(&action.sa_mask, SIGINT);
        if (value & 2)
            sigaddset(&action.sa_mask, SIGHUP);
        assert(sigaction(SIGUSR1, &action, NULL) == 0);
    }
}

static void add(void *unused)
{
    (void)unused;
    put(get() + 1);
}

static void *leaves(void *unused)
{
    pthread_cleanup_push(add, unused);
    pthread_exit(NULL);
    pthread_cleanup_pop(0);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    assert(argc == 2);
    what = argv[1];
    stream = socket(AF_UNIX, SOCK_STREAM, 0);
    put(0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, leaves, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(get() == 2);
    return 0;
}
