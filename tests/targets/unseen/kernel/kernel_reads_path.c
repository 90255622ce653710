/* A thread opens a file by a name that main changes: in between there is no such file. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static char name[64] = "here";

static void *open_it(void *unused)
{
    int file = open(name, O_RDONLY);

    assert(file >= 0);
    close(file);
    return unused;
}

int main(void)
{
    pthread_t thread;

    close(open("here", O_WRONLY | O_CREAT, 0600));
    close(open("there", O_WRONLY | O_CREAT, 0600));
    pthread_create(&thread, NULL, open_it, NULL);
    name[0] = 't';
    memcpy(name + 1, "here", 5);
    pthread_join(thread, NULL);
    return 0;
}
