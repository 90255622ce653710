/* Money transfers between accounts, each account with a lock of its own.
 *
 * Right: `transfer` takes the lock of the account with the lower number first, whatever the direction, so that there is
 * no cycle of threads that wait for one another.
 */
#include <pthread.h>
#include <stddef.h>

struct account {
    pthread_mutex_t lock;
    int number;
    long balance;
};

static struct account savings = { PTHREAD_MUTEX_INITIALIZER, 1, 1000 };
static struct account current = { PTHREAD_MUTEX_INITIALIZER, 2, 200 };

static void transfer(struct account *from, struct account *to, long amount)
{
    struct account *first = from->number < to->number ? from : to;
    struct account *second = first == from ? to : from;

    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
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
    pthread_join(rent, NULL);
    pthread_join(reserve, NULL);
    return savings.balance + current.balance == 1200 ? 0 : 1;
}
