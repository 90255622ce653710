// Two threads take two locks in opposite orders and cannot deadlock: GATE, a third lock keeps them apart; JOINED, the one
// ends before the other begins; HANDED, a semaphore tells the other one when; READERS, neither excludes the other; TRIES,
// the one goes on without the second lock.

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t near = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t far = PTHREAD_RWLOCK_INITIALIZER;
static sem_t turn;
static int moved;

static void enter(void)
{
#ifdef GATE
    pthread_mutex_lock(&gate);
#endif
}

static void leave(void)
{
#ifdef GATE
    pthread_mutex_unlock(&gate);
#endif
}

static void *forth(void *argument)
{
    enter();
#ifdef READERS
    pthread_rwlock_rdlock(&near);
    pthread_rwlock_rdlock(&far);
    pthread_rwlock_unlock(&far);
    pthread_rwlock_unlock(&near);
#else
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
    moved++;
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
#endif
    leave();
    sem_post(&turn);
    return argument;
}

static void *back(void *argument)
{
#ifdef HANDED
    sem_wait(&turn);
#endif
    enter();
#ifdef READERS
    pthread_rwlock_rdlock(&far);
    pthread_rwlock_rdlock(&near);
    pthread_rwlock_unlock(&near);
    pthread_rwlock_unlock(&far);
#else
    pthread_mutex_lock(&right);
#ifdef TRIES
    if (pthread_mutex_trylock(&left) == 0) {
        moved--;
        pthread_mutex_unlock(&left);
    }
#else
    pthread_mutex_lock(&left);
    moved--;
    pthread_mutex_unlock(&left);
#endif
    pthread_mutex_unlock(&right);
#endif
    leave();
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    sem_init(&turn, 0, 0);
    pthread_create(&threads[0], NULL, forth, NULL);
#ifdef JOINED
    pthread_join(threads[0], NULL);
#endif
    pthread_create(&threads[1], NULL, back, NULL);
#ifndef JOINED
    pthread_join(threads[0], NULL);
#endif
    pthread_join(threads[1], NULL);
    return 0;
}
