/* A system call of one thread reads, or with -DREADS writes, a block that the other thread frees. With -DTRY it does so under a lock, and
 * leaves out what is gone. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *block;
static int file;

static void begin(void) {
#ifdef TRY
    pthread_mutex_lock(&lock);
#endif
}

static void end(void) {
#ifdef TRY
    pthread_mutex_unlock(&lock);
#endif
}

static void *give_up(void *none) {
    begin();
    free(block);
#ifdef TRY
    block = NULL;
#endif
    end();
    return none;
}

static void *use(void *none) {
    begin();
#ifdef READS
    if (block && read(file, block, 100) < 0)
        abort();
#else
    if (block && write(file, block, 100) < 0)
        abort();
#endif
    end();
    return none;
}

int main(void) {
    file = open("/dev/zero", O_RDWR);
    block = calloc(1, 200);
    pthread_t one, other;
    pthread_create(&one, NULL, give_up, NULL);
    pthread_create(&other, NULL, use, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
