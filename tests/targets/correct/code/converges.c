// A thread calculates for long with a number that an optimiser keeps in a vector register: memory and all other registers are the
// same in each round of the loop, which ends all the same.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void finish(void) {
    pthread_mutex_lock(&lock);
    done++;
    pthread_mutex_unlock(&lock);
}

static void *converge(void *start) {
    double number = *(double *)start;
    while (number < 1e9) {
        number *= 1.00000004;
    }
    finish();
    return NULL;
}

int main(void) {
    double start = 1;
    pthread_t thread;
    pthread_create(&thread, NULL, converge, &start);
    finish();
    pthread_join(thread, NULL);
    return done == 2 ? 0 : 1;
}
