/* A pipe refers to pages: what is written there before the pipe is read comes out of it. By -DVMSPLICE these are memory, by -DSPLICE and
 * -DSENDFILE those of a file. With -DTRY, nothing is written. */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096 };
static int ends[2], file;
static volatile char *page;

static void fill(void)
{
#ifdef VMSPLICE
    struct iovec all = {(void *)page, 1};
    assert(vmsplice(ends[1], &all, 1, 0) == 1);
#elif defined SPLICE
    loff_t start = 0;
    assert(splice(file, &start, ends[1], NULL, 1, 0) == 1);
#else
    off_t start = 0;
    assert(sendfile(ends[1], file, &start, 1) == 1);
#endif
}

static void store(char what)
{
#ifdef VMSPLICE
    page[0] = what;
#else
    assert(pwrite(file, &what, 1, 0) == 1);
#endif
}

static void *writes(void *unused)
{
#ifndef TRY
    store('1');
    store('0');
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;
    char found = 0;

    file = memfd_create("page", 0);
    assert(ftruncate(file, PAGE) == 0 && pipe(ends) == 0);
    page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    store('0');
    fill();
    pthread_create(&thread, NULL, writes, NULL);
    assert(read(ends[0], &found, 1) == 1);
    pthread_join(thread, NULL);
    assert(found == '0');
    return 0;
}
