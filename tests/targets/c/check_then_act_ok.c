/* Bank account: two cards of one account withdraw money at the same time.
 *
 * Right: `withdraw` checks and changes the balance in one critical section, so what it has checked still holds.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t account_lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100;

static void withdraw(int amount)
{
    pthread_mutex_lock(&account_lock);
    if (balance >= amount)
        balance -= amount;
    pthread_mutex_unlock(&account_lock);
}

static void *use_card(void *unused)
{
    (void)unused;
    withdraw(70);
    return NULL;
}

int main(void)
{
    pthread_t first, second;

    pthread_create(&first, NULL, use_card, NULL);
    pthread_create(&second, NULL, use_card, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    if (balance < 0) {
        fprintf(stderr, "account overdrawn by %d\n", -balance);
        exit(2);
    }
    return 0;
}
