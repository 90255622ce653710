// Two threads take two locks for writing, in either order. The locks let writers go first.
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>

static pthread_rwlock_t stock_lock, order_lock;
static int stock = 9, orders;

static void *sell(void *unused) {
    pthread_rwlock_wrlock(&order_lock);
    pthread_rwlock_wrlock(&stock_lock);
    stock--;
    orders++;
    pthread_rwlock_unlock(&stock_lock);
    pthread_rwlock_unlock(&order_lock);
    return unused;
}

static void *cancel(void *unused) {
    pthread_rwlock_wrlock(&stock_lock);
    pthread_rwlock_wrlock(&order_lock);
    stock++;
    orders--;
    pthread_rwlock_unlock(&order_lock);
    pthread_rwlock_unlock(&stock_lock);
    return unused;
}

int main(void) {
    pthread_rwlockattr_t kind;
    pthread_rwlockattr_init(&kind);
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&stock_lock, &kind);
    pthread_rwlock_init(&order_lock, &kind);
    pthread_t seller, canceller;
    pthread_create(&seller, NULL, sell, NULL);
    pthread_create(&canceller, NULL, cancel, NULL);
    pthread_join(seller, NULL);
    pthread_join(canceller, NULL);
    return 0;
}
