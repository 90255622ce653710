#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

/* Adds an amount; any thread may call it. */
void deposit(struct account *account, int amount);

#endif
