/* Bank account: two cards of one account withdraw money at the same time.
 *
 * Wrong (atomicity violation): `withdraw` checks the balance in one critical section and changes it in another. Between
 * the two the money that was checked can go.
 * Finding: exit-code (2, the account is overdrawn), in main.
 * Preemptions: 1. With 0, the lock is free whenever a thread asks for it, so each withdrawal runs undivided. With 1: stop
 * the first card before it takes the lock again, and let the other one withdraw.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t account_lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100;

static int current_balance(void)
{
    pthread_mutex_lock(&account_lock);
    int now = balance;
    pthread_mutex_unlock(&account_lock);
    return now;
}

static void withdraw(int amount)
{
    if (current_balance() >= amount) {
        pthread_mutex_lock(&account_lock);
        balance -= amount;
        pthread_mutex_unlock(&account_lock);
    }
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
        exit(2); /* FAILS HERE */
    }
    return 0;
}
