// A counter that two threads share lies among words of which each thread has its own, at a place that the argument gives. The
// same instructions go through those words first: most of what they touch is private, and the memory around the counter as well.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 2048, ROUNDS = 100 };

static _Alignas(256) unsigned char bytes[LENGTH];
static size_t place;

struct wide {
    unsigned char bytes[16];
};

__attribute__((noinline)) static void add(uint32_t *to) {
    *to += 1;
}

__attribute__((noinline)) static void copy(struct wide *to, const struct wide *from) {
    *to = *from;
}

// It goes through its words before the counter, and through the ones behind it that nobody else has; at last one wide store
// reaches into the counter.
static void *lower(void *unused) {
    (void)unused;
    struct wide ones;
    memset(&ones, 1, sizeof ones);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t at = place % 4; at + 4 <= place; at += 60) {
            add((uint32_t *)&bytes[at]);
        }
        copy((struct wide *)&bytes[round % 16], &ones);
    }
    copy((struct wide *)&bytes[place - 12], &ones);
    return NULL;
}

static void *upper(void *unused) {
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t at = place + 4; at + 4 <= LENGTH; at += 60) {
            add((uint32_t *)&bytes[at]);
        }
    }
    add((uint32_t *)&bytes[place]);
    return NULL;
}

int main(int argc, char **argv) {
    place = argc > 1 ? strtoul(argv[1], NULL, 10) : 256;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, lower, NULL);
    pthread_create(&threads[1], NULL, upper, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    uint32_t counter;
    memcpy(&counter, &bytes[place], sizeof counter);
    // One comes after the other, unless the store falls between the read and the write of the addition.
    assert(counter == 0x01010101 || counter == 0x01010102);
    return 0;
}
