// Two threads take two locks in either order. Both locks are blocks that one function has allocated.
#include <pthread.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

struct pair {
    struct account *from, *to;
};

static void *transfer(void *argument) {
    struct pair *pair = argument;
    pthread_mutex_lock(&pair->from->lock);
    pthread_mutex_lock(&pair->to->lock);
    pair->from->balance--;
    pair->to->balance++;
    pthread_mutex_unlock(&pair->to->lock);
    pthread_mutex_unlock(&pair->from->lock);
    return NULL;
}

int main(void) {
#ifdef ONE_LINE
    struct account *savings = calloc(1, sizeof *savings), *current = calloc(1, sizeof *current);
#else
    struct account *savings = calloc(1, sizeof *savings);
    struct account *current = calloc(1, sizeof *current);
#endif
    struct pair there = {savings, current}, back = {current, savings};
    pthread_t first, second;
    pthread_create(&first, NULL, transfer, &there);
    pthread_create(&second, NULL, transfer, &back);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
