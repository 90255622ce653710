/* Two threads read from one open file: the first one gets what comes first. With -DCOPY the second has a copy of the descriptor, with
 * -DOWN it has opened the file for itself, and gets the same as the first. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int files[2];
static char first[2];

static void *take(void *which) {
    long nth = (long)which;
    if (read(files[nth], &first[nth], 1) != 1)
        first[nth] = 0;
    return NULL;
}

int main(void) {
    files[0] = open("letters", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (write(files[0], "ab", 2) != 2)
        return 2;
    lseek(files[0], 0, SEEK_SET);
#if defined COPY
    files[1] = dup(files[0]);
#elif defined OWN
    files[1] = open("letters", O_RDONLY);
#else
    files[1] = files[0];
#endif
    pthread_t one, other;
    pthread_create(&one, NULL, take, (void *)0);
    pthread_create(&other, NULL, take, (void *)1);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(first[0] == 'a');
    return 0;
}
