/* Which number a file gets depends on what another thread has open. With -DRECEIVES, that is a file that a message brings along. With -DTRY,
 * both lock a mutex. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void begin(void)
{
#ifdef TRY
    pthread_mutex_lock(&lock);
#endif
}

static void end(void)
{
#ifdef TRY
    pthread_mutex_unlock(&lock);
#endif
}

#ifdef RECEIVES

static int ends[2];
static char byte;
static struct iovec text = {&byte, 1};
static union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr header;
} room;
static struct msghdr message = {
    .msg_iov = &text, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};

static void prepare(void)
{
    socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
    room.header = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(&room.header), &ends[0], sizeof(int));
    assert(sendmsg(ends[0], &message, 0) == 1);
}

static int open_one(void)
{
    int file;

    message.msg_controllen = sizeof room;
    assert(recvmsg(ends[1], &message, 0) == 1);
    memcpy(&file, CMSG_DATA(&room.header), sizeof file);
    return file;
}

#else

static void prepare(void)
{
}

static int open_one(void)
{
    return open("/dev/null", O_RDONLY);
}

#endif

static void *open_and_close(void *unused)
{
    begin();
    close(open_one());
    end();
    return unused;
}

int main(void)
{
    pthread_t thread;

    prepare();
    int lowest = open("/dev/null", O_RDONLY);
    close(lowest);
    pthread_create(&thread, NULL, open_and_close, NULL);
    begin();
    int file = open("/dev/null", O_RDONLY);
    close(file);
    end();
    pthread_join(thread, NULL);
    assert(file == lowest);
    return 0;
}
