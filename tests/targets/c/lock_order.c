/* Money transfers between accounts, each account with a lock of its own.
 *
 * Wrong (lock order): `transfer` locks the giving account first. Two transfers in opposite directions can each hold the
 * lock that the other one needs.
 * Finding: deadlock, both threads in `transfer` and main in its join.
 * Preemptions: 1. With 0, a transfer takes both locks back to back. With 1: stop the first transfer between its two locks,
 * and let the other one run until it blocks.
 */
#include <pthread.h>
#include <stddef.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account savings = { PTHREAD_MUTEX_INITIALIZER, 1000 };
static struct account current = { PTHREAD_MUTEX_INITIALIZER, 200 };

static void transfer(struct account *from, struct account *to, long amount)
{
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock); /* FAILS HERE */
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *pay_rent(void *unused)
{
    (void)unused;
    transfer(&savings, &current, 800);
    return NULL;
}

static void *put_aside(void *unused)
{
    (void)unused;
    transfer(&current, &savings, 100);
    return NULL;
}

int main(void)
{
    pthread_t rent, reserve;

    pthread_create(&rent, NULL, pay_rent, NULL);
    pthread_create(&reserve, NULL, put_aside, NULL);
    pthread_join(rent, NULL); /* FAILS HERE */
    pthread_join(reserve, NULL);
    return savings.balance + current.balance == 1200 ? 0 : 1;
}
