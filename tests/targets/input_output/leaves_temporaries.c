/* Two threads write lines to a file of a name that is chosen anew, in a folder of such a name, and make one more each; all of it is left
 * behind. A file that was there before is not made. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int lines;
static char folder[] = "folderXXXXXX";

static void *writes(void *unused)
{
    char name[64];
    snprintf(name, sizeof name, "%s/ownXXXXXX", folder);
    int own = mkstemp(name);
    assert(own >= 0);
    pthread_mutex_lock(&lock);
    assert(write(lines, "line\n", 5) == 5);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    char name[] = "linesXXXXXX";
    pthread_t threads[2];
    struct stat found;
    assert(open("before", O_CREAT | O_EXCL | O_RDWR, 0600) == -1 && errno == EEXIST);
    assert(mkdtemp(folder));
    lines = mkstemp(name);
    assert(lines >= 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, writes, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(fstat(lines, &found) == 0 && found.st_size == 10);
    return 0;
}
