/* A mailbox: a reader sleeps until a message is there.
 *
 * Right: the sender sets the flag with the mutex held, so it cannot come between the reader's look at the flag and its
 * sleep, which releases the mutex and enqueues in one step.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_mutex_t mailbox_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t mail_arrived = PTHREAD_COND_INITIALIZER;
static bool has_mail;

static void *read_mail(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mailbox_lock);
    while (!has_mail)
        pthread_cond_wait(&mail_arrived, &mailbox_lock);
    pthread_mutex_unlock(&mailbox_lock);
    return NULL;
}

static void *send_mail(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mailbox_lock);
    has_mail = true;
    pthread_cond_signal(&mail_arrived);
    pthread_mutex_unlock(&mailbox_lock);
    return NULL;
}

int main(void)
{
    pthread_t reader, sender;

    pthread_create(&reader, NULL, read_mail, NULL);
    pthread_create(&sender, NULL, send_mail, NULL);
    pthread_join(reader, NULL);
    pthread_join(sender, NULL);
    return 0;
}
