/* Another program writes a random number, whose bits say which of two counters the thread adds to. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int counts[2];

static void add(int which)
{
    pthread_mutex_lock(&mutexes[which]);
    counts[which]++;
    pthread_mutex_unlock(&mutexes[which]);
}

static void *add_by_chance(void *unused)
{
    unsigned number = 0;
    FILE *program = popen("od -An -N4 -tu4 /dev/urandom", "r");
    assert(program != NULL && fscanf(program, "%u", &number) == 1);
    pclose(program);
    for (int bit = 0; bit < 32; bit++)
        add(number >> bit & 1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, add_by_chance, NULL);
    add(0);
    add(1);
    pthread_join(thread, NULL);
    assert(counts[0] + counts[1] == 34);
    return 0;
}
