#include "account.h"

/* Wrong (lost update): the lock is there, and nobody takes it. */
void deposit(struct account *account, int amount)
{
    int before = account->balance;
    int after = before;

    after += amount;
    account->balance = after;
}
