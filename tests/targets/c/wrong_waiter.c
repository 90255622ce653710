/* A letter box with room for one letter: main brings two, two readers fetch one each.
 *
 * Wrong (missed notification): main, which waits for room, and the readers, which wait for a letter, wait on the same
 * condition variable, and whoever has done something signals it to one of them. A reader's signal can go to the other
 * reader, who finds the box empty and waits again; main is never woken.
 * Finding: deadlock, main and a reader in their condition waits.
 * Preemptions: 1. With 0, main brings its first letter before anybody waits, and each signal after that finds no more than
 * one who waits. With 1: stop main before it brings the first one, and let both readers wait.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { READERS = 2 };

static pthread_mutex_t box_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t box_has_changed = PTHREAD_COND_INITIALIZER;
static bool is_full;

static void *fetch_letter(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&box_lock);
    while (!is_full)
        pthread_cond_wait(&box_has_changed, &box_lock); /* FAILS HERE */
    is_full = false;
    pthread_cond_signal(&box_has_changed);
    pthread_mutex_unlock(&box_lock);
    return NULL;
}

static void bring_letter(void)
{
    pthread_mutex_lock(&box_lock);
    while (is_full)
        pthread_cond_wait(&box_has_changed, &box_lock); /* FAILS HERE */
    is_full = true;
    pthread_cond_signal(&box_has_changed);
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
