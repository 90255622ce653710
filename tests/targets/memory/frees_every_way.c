/* Two threads use memory that was obtained in all the ways that the C library has, and whoever is done with a block last gives
 * it back. With the number of a way as argument, the block of this way is given back by whoever is done with it first. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 100, LARGE = 1 << 20, WAYS = 12, CLEARED = 10, RESIZED = 11 };

/* Freed by its last user as soon as that has unlocked the mutex in it. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    int is_open;
    int users;
};

static char *blocks[WAYS];
static atomic_int users[WAYS];
static int careless = -1;
static struct gate *gate;
static FILE *journal;
static atomic_int writers = 2;

static char *read_line(void)
{
    char text[] = "first\nsecond\n";
    char *line = NULL;
    size_t size = 0;
    FILE *file = fmemopen(text, sizeof text, "r");

    if (getline(&line, &size, file) != 6)
        abort();
    fclose(file);
    return line;
}

static char *obtain(int way)
{
    void *block = NULL;

    switch (way) {
    case 0: return malloc(SIZE);
    case 1: return calloc(2, SIZE);
    case 2: return realloc(NULL, SIZE);
    case 3: return realloc(malloc(8), LARGE);
    case 4: return reallocarray(NULL, 2, SIZE);
    case 5: return aligned_alloc(64, 2 * 64);
    case 6: return posix_memalign(&block, 256, SIZE) ? NULL : block;
    case 7: return memalign(32, SIZE);
    case 8: return strdup("a text");
    case 9: return read_line();
    default: return malloc(SIZE);
    }
}

static void give_back(int way)
{
    char *block = blocks[way];

    if (way == CLEARED)
        block = realloc(block, 0);
    else if (way == RESIZED)
        block = realloc(block, LARGE);
    free(block);
}

static void obtain_every_second(int first)
{
    for (int way = first; way < WAYS; way += 2) {
        blocks[way] = obtain(way);
        blocks[way][0] = 'x';
        atomic_store(&users[way], 2);
    }
}

static void use_all(void)
{
    for (int way = 0; way < WAYS; way++) {
        if (blocks[way][0] != 'x') /* FAILS HERE */
            abort();
        if (way == careless || atomic_fetch_sub(&users[way], 1) == 1)
            give_back(way);
    }
}

/* What nobody else sees, so that addresses are used again. */
static void do_chores(void)
{
    free(NULL);
    free(read_line());
    char *text = realloc(strdup("short"), SIZE);
    strcat(text, "er");
    free(text);
    free(calloc(SIZE, 1));
    fputs("done\n", journal);
    if (atomic_fetch_sub(&writers, 1) == 1)
        fclose(journal);
}

static void leave_gate(void)
{
    int is_last = --gate->users == 0;

    pthread_mutex_unlock(&gate->lock);
    if (is_last) {
        pthread_cond_destroy(&gate->opened);
        pthread_mutex_destroy(&gate->lock);
        free(gate);
    }
}

static void *second_user(void *unused)
{
    use_all();
    do_chores();
    pthread_mutex_lock(&gate->lock);
    gate->is_open = 1;
    pthread_cond_signal(&gate->opened);
    leave_gate();
    return unused;
}

static void *first_user(void *unused)
{
    pthread_t second;

    obtain_every_second(1);
    pthread_create(&second, NULL, second_user, NULL);
    use_all();
    do_chores();
    pthread_mutex_lock(&gate->lock);
    while (!gate->is_open)
        pthread_cond_wait(&gate->opened, &gate->lock);
    leave_gate();
    pthread_join(second, NULL);
    return unused;
}

int main(int argc, char **argv)
{
    static char written[SIZE];
    pthread_t first;

    if (argc > 1)
        careless = atoi(argv[1]);
    journal = fmemopen(written, sizeof written, "w");
    gate = calloc(1, sizeof *gate);
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->opened, NULL);
    gate->users = 2;
    obtain_every_second(0);
    pthread_create(&first, NULL, first_user, NULL);
    pthread_join(first, NULL);
    return strcmp(written, "done\ndone\n") ? 1 : 0;
}
