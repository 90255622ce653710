// Threads that wait for ever, whatever their order: its argument says for what.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t gate;
static sem_t key;
static int guests;
static volatile int open_now;

static void *knocks_twice(void *unused) {
    pthread_mutex_lock(&door);
    pthread_mutex_lock(&door);
    return unused;
}

static void *knocks(void *unused) {
    pthread_mutex_lock(&door);
    guests++;
    pthread_mutex_unlock(&door);
    return unused;
}

static void *slams(void *unused) {
    pthread_mutex_lock(&door);
    guests++;
    return unused;
}

static void *listens(void *unused) {
    pthread_mutex_lock(&door);
    while (!open_now)
        pthread_cond_wait(&bell, &door);
    pthread_mutex_unlock(&door);
    return unused;
}

static void *takes_key(void *unused) {
    sem_wait(&key);
    guests++;
    return unused;
}

static void *arrives(void *unused) {
    pthread_barrier_wait(&gate);
    return unused;
}

static void *looks(void *unused) {
    while (!open_now)
        ;
    return unused;
}

static void *enters(void *unused) {
    sem_wait(&key);
    guests++;
    sem_wait(&key);
    return unused;
}

static void run(void *(*function)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, function, NULL);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    pthread_barrier_init(&gate, NULL, 2);
    sem_init(&key, 0, strcmp(what, "enters") == 0);
    if (strcmp(what, "knocks-twice") == 0)
        run(knocks_twice);
    if (strcmp(what, "joins") == 0) {
        pthread_mutex_lock(&door);
        run(knocks);
        pthread_mutex_unlock(&door);
    }
    if (strcmp(what, "slams") == 0) {
        run(slams);
        pthread_mutex_lock(&door);
    }
    if (strcmp(what, "listens") == 0)
        run(listens);
    if (strcmp(what, "rings-early") == 0) {
        run(knocks);
        pthread_cond_signal(&bell);
        run(listens);
    }
    if (strcmp(what, "rings") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, listens, NULL);
        pthread_cond_signal(&bell);
        pthread_join(thread, NULL);
    }
    if (strcmp(what, "gives-late") == 0) {
        run(takes_key);
        sem_post(&key);
    }
    if (strcmp(what, "enters") == 0)
        run(enters);
    if (strcmp(what, "arrives") == 0)
        run(arrives);
    if (strcmp(what, "looks") == 0)
        run(looks);
    return 0;
}
