/* A letter box with room for one letter: main brings two, two readers fetch one each.
 *
 * Right: who waits for room and who waits for a letter wait on condition variables of their own.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { READERS = 2 };

static pthread_mutex_t box_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t box_is_full = PTHREAD_COND_INITIALIZER;
static pthread_cond_t box_is_empty = PTHREAD_COND_INITIALIZER;
static bool is_full;

static void *fetch_letter(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&box_lock);
    while (!is_full)
        pthread_cond_wait(&box_is_full, &box_lock);
    is_full = false;
    pthread_cond_signal(&box_is_empty);
    pthread_mutex_unlock(&box_lock);
    return NULL;
}

static void bring_letter(void)
{
    pthread_mutex_lock(&box_lock);
    while (is_full)
        pthread_cond_wait(&box_is_empty, &box_lock);
    is_full = true;
    pthread_cond_signal(&box_is_full);
    pthread_mutex_unlock(&box_lock);
}

int main(void)
{
    pthread_t readers[READERS];

    for (int i = 0; i < READERS; i++)
        pthread_create(&readers[i], NULL, fetch_letter, NULL);
    for (int i = 0; i < READERS; i++)
        bring_letter();
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    return 0;
}
