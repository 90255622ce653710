/* Another program writes a random number, and the threads count as often as its bits say. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void add(void)
{
    pthread_mutex_lock(&mutex);
    count++;
    pthread_mutex_unlock(&mutex);
}

static void *add_by_chance(void *unused)
{
    int number = 0;
    FILE *program = popen("od -An -N1 -tu1 /dev/urandom", "r");
    assert(program != NULL && fscanf(program, "%d", &number) == 1);
    pclose(program);
    for (int bit = 0; bit < 8; bit++)
        if (number >> bit & 1)
            add();
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, add_by_chance, NULL);
    add();
    pthread_join(thread, NULL);
    assert(count >= 1 && count <= 9);
    return 0;
}
