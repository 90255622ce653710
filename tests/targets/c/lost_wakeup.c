/* A mailbox: a reader sleeps until a message is there.
 *
 * Wrong (lost wake-up): the sender sets the flag and signals without the mutex ("the flag is atomic, after all"). Both
 * can happen after the reader has looked at the flag and before it sleeps; then nobody wakes it.
 * Finding: deadlock, the reader in its condition wait and main in its join.
 * Preemptions: 1. With 0, the reader goes from its look at the flag into the wait without a stop. With 1: stop the reader
 * between the two, and let the sender run to its end.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_mutex_t mailbox_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t mail_arrived = PTHREAD_COND_INITIALIZER;
static atomic_bool has_mail;

static void *read_mail(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mailbox_lock);
    while (!atomic_load(&has_mail))
        pthread_cond_wait(&mail_arrived, &mailbox_lock); /* FAILS HERE */
    pthread_mutex_unlock(&mailbox_lock);
    return NULL;
}

static void *send_mail(void *unused)
{
    (void)unused;
    atomic_store(&has_mail, true);
    pthread_cond_signal(&mail_arrived);
    return NULL;
}

int main(void)
{
    pthread_t reader, sender;

    pthread_create(&reader, NULL, read_mail, NULL);
    pthread_create(&sender, NULL, send_mail, NULL);
    pthread_join(reader, NULL); /* FAILS HERE */
    pthread_join(sender, NULL);
    return 0;
}
