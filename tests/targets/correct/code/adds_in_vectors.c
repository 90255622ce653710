// Two threads share an array, which one fills and the other adds up, once in numbers and once in floating-point ones, after it was
// handed over. An optimiser keeps the sums in vector registers for all of the loop.
#include <assert.h>
#include <pthread.h>

enum { LENGTH = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int is_full;
static int numbers[LENGTH];
static double fractions[LENGTH];

static void *fill(void *unused) {
    (void)unused;
    for (int i = 0; i < LENGTH; i++) {
        numbers[i] = i;
    }
    for (int i = 0; i < LENGTH; i++) {
        fractions[i] = i / 2.0;
    }
    pthread_mutex_lock(&lock);
    is_full = 1;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, fill, NULL);
    pthread_mutex_lock(&lock);
    while (!is_full) {
        pthread_cond_wait(&filled, &lock);
    }
    pthread_mutex_unlock(&lock);
    int sum = 0;
    for (int i = 0; i < LENGTH; i++) {
        sum += numbers[i];
    }
    double fraction = 0;
    for (int i = 0; i < LENGTH; i++) {
        fraction += fractions[i];
    }
    pthread_join(thread, NULL);
    assert(sum == LENGTH * (LENGTH - 1) / 2);
    assert(fraction == LENGTH * (LENGTH - 1) / 4.0);
    return 0;
}
