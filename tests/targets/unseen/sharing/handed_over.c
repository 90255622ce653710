// One thread fills a buffer and hands it over to another one, which goes through it. The argument says how: in order, or with one
// of several mistakes that only some orders of the critical sections show.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 2000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int *buffer;
static int is_full, impatient, taken;
static const char *how;

static int is(const char *what) {
    return strcmp(how, what) == 0;
}

// All of the buffer under the lock, by whoever has it: the same instructions in both threads.
static void overwrite(int with) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < LENGTH; i++) {
        buffer[i] = with;
    }
    pthread_mutex_unlock(&lock);
}

// A counter is looked at in one critical section, and changed in another one.
static void count_in_two_sections(void) {
    pthread_mutex_lock(&lock);
    int seen = taken;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    taken = seen + 1;
    pthread_mutex_unlock(&lock);
}

static void *fill(void *unused) {
    (void)unused;
    if (is("in turns")) {
        overwrite(1);
        return NULL;
    }
    for (int i = 0; i < LENGTH; i++) {
        buffer[i] = i;
    }
    pthread_mutex_lock(&lock);
    is_full = 1;
    if (is("late")) {
        buffer[LENGTH / 2] = 0;
    }
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
    if (is("late")) {
        // After the lock was given back.
        buffer[LENGTH / 2] = LENGTH / 2;
    }
    if (is("freed")) {
        pthread_mutex_lock(&lock);
        taken = buffer[0] == 0;
        pthread_mutex_unlock(&lock);
    }
    if (is("between")) {
        count_in_two_sections();
    }
    if (is("impatient") && impatient) {
        // Only where the other thread had the lock first.
        buffer[1] = 1;
    }
    return NULL;
}

static void *drain(void *unused) {
    (void)unused;
    int sum = 0;
    if (is("in turns")) {
        overwrite(2);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    while (!is_full) {
        impatient = 1;
        pthread_cond_wait(&filled, &lock);
    }
    pthread_mutex_unlock(&lock);
    if (is("impatient") && impatient) {
        volatile int *own = &buffer[1];
        *own = 2;
        assert(*own == 2);
        *own = 1;
    }
    for (int i = 0; i < LENGTH; i++) {
        sum += buffer[i];
    }
    assert(sum == LENGTH * (LENGTH - 1) / 2);
    if (is("freed")) {
        pthread_mutex_lock(&lock);
        free(buffer);
        pthread_mutex_unlock(&lock);
    }
    if (is("between")) {
        count_in_two_sections();
    }
    return NULL;
}

int main(int argc, char **argv) {
    how = argc > 1 ? argv[1] : "in order";
    buffer = calloc(LENGTH, sizeof *buffer);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, fill, NULL);
    pthread_create(&threads[1], NULL, drain, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    assert(!is("between") || taken == 2);
    assert(!is("in turns") || buffer[0] == buffer[LENGTH - 1]);
    return 0;
}
