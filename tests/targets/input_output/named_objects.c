// A semaphore or memory with a name, which is there for other processes until it is unlinked. One thread removes what an earlier run may have
// left while another one may have made it already: then the two wait for one another (-DSEMAPHORE), or have two objects. -DTRY: it is
// removed before the other thread begins, and left behind in the end. The name is the argument.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *name;

#ifdef SEMAPHORE
static sem_t *get(void) {
    sem_t *semaphore = sem_open(name, O_CREAT, 0600, 0);
    assert(semaphore != SEM_FAILED);
    return semaphore;
}

static void tell(void) { sem_post(get()); }
static void hear(void) { sem_wait(get()); }
static void clean(void) { sem_unlink(name); }
#else
static int *get(void) {
    int object = shm_open(name, O_CREAT | O_RDWR, 0600);
    assert(object >= 0 && ftruncate(object, sizeof(int)) == 0);
    int *word = mmap(0, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, object, 0);
    assert(word != MAP_FAILED);
    return word;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static int has_told;

static void tell(void) {
    ++*get();
    pthread_mutex_lock(&lock);
    has_told = 1;
    pthread_cond_signal(&told);
    pthread_mutex_unlock(&lock);
}

static void hear(void) {
    pthread_mutex_lock(&lock);
    while (!has_told) pthread_cond_wait(&told, &lock);
    pthread_mutex_unlock(&lock);
    assert(*get() == 1);
}

static void clean(void) { shm_unlink(name); }
#endif

static void *work(void *unused) {
    tell();
    return unused;
}

int main(int count, char **arguments) {
    pthread_t other;
    assert(count == 2);
    name = arguments[1];
#ifdef TRY
    clean();
#endif
    pthread_create(&other, NULL, work, NULL);
#ifndef TRY
    clean();
#endif
    hear();
    pthread_join(other, NULL);
    return 0;
}
