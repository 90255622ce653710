/* A number is read digit by digit by the C library while another thread replaces its text by one store. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static union {
    char text[8];
    volatile uint64_t word;
} number = { .text = "1111111" };

static void *replaces(void *unused)
{
    uint64_t word;
    memcpy(&word, "2222222", sizeof word);
    number.word = word;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, replaces, NULL);
    long read = strtol(number.text, NULL, 10);
    assert(read == 1111111 || read == 2222222);
    pthread_join(thread, NULL);
    return 0;
}
