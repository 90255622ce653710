// Two requests to write at once (`aio_write`): the thread that carries them out is the C library's, which guards its list of them by a lock
// of its own.

#include <aio.h>
#include <assert.h>
#include <errno.h>
#include <unistd.h>

int main(void)
{
    static char bytes[2][16];
    static struct aiocb requests[2];
    int ends[2];
    assert(pipe(ends) == 0);
    for (int i = 0; i < 2; i++) {
        requests[i] = (struct aiocb) {.aio_fildes = ends[1], .aio_buf = bytes[i], .aio_nbytes = sizeof bytes[i]};
        assert(aio_write(&requests[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        const struct aiocb *request = &requests[i];
        while (aio_error(request) == EINPROGRESS)
            aio_suspend(&request, 1, NULL);
        assert(aio_return(&requests[i]) == sizeof bytes[i]);
    }
    return 0;
}
