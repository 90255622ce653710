/* The C library reads a file into a buffer in a thread of its own. */
#include <aio.h>
#include <assert.h>
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

int main(void)
{
    char buffer[4] = {0};
    int file = open("/proc/self/exe", O_RDONLY);
    struct aiocb block = {.aio_fildes = file, .aio_buf = buffer, .aio_nbytes = sizeof buffer};
    const struct aiocb *list[] = {&block};

    aio_read(&block);
    int is_there = buffer[1] == 'E';
    while (aio_error(&block) != 0)
        aio_suspend(list, 1, NULL);
    close(file);
    assert(!is_there);
    return 0;
}
