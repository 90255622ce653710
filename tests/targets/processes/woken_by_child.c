/* A thread waits for what another process does: a child that is forked gives up a semaphore, lets go of a mutex or signals a condition in
 * memory that both have, or sends a signal; or the end of a child is the signal. Whatever the child does first, the thread waits, or
 * does the same as if it had waited. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct common {
    sem_t given_up;
    sem_t is_held;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int waits;
    int is_changed;
};

static struct common *common;
static const char *way;

static int is_way(const char *other) { return strcmp(way, other) == 0; }

static void make_common(void) {
    common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t of_mutex;
    pthread_mutexattr_init(&of_mutex);
    pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&common->mutex, &of_mutex);
    pthread_condattr_t of_condition;
    pthread_condattr_init(&of_condition);
    pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&common->changed, &of_condition);
    sem_init(&common->given_up, 1, 0);
    sem_init(&common->is_held, 1, 0);
}

/* The word of a mutex of the C library, which is 2 once somebody waits for it. */
static int is_waited_for(pthread_mutex_t *mutex) { return __atomic_load_n((int *)mutex, __ATOMIC_SEQ_CST) == 2; }

static void hold_until_waited_for(void) {
    pthread_mutex_lock(&common->mutex);
    sem_post(&common->is_held);
    while (!is_waited_for(&common->mutex))
        usleep(1000);
    pthread_mutex_unlock(&common->mutex);
}

static void change_once_waited_for(void) {
    do
        usleep(1000);
    while (!__atomic_load_n(&common->waits, __ATOMIC_SEQ_CST));
    pthread_mutex_lock(&common->mutex);
    common->is_changed = 1;
    pthread_cond_signal(&common->changed);
    pthread_mutex_unlock(&common->mutex);
}

static void run_child(void) {
    usleep(1000);
    if (is_way("semaphore"))
        sem_post(&common->given_up);
    if (is_way("mutex"))
        hold_until_waited_for();
    if (is_way("condition"))
        change_once_waited_for();
    if (is_way("signal"))
        kill(getppid(), SIGUSR1);
    _exit(0);
}

static void *wait_for_it(void *signals) {
    if (is_way("semaphore"))
        sem_wait(&common->given_up);
    if (is_way("mutex")) {
        sem_wait(&common->is_held);
        pthread_mutex_lock(&common->mutex);
        pthread_mutex_unlock(&common->mutex);
    }
    if (is_way("condition")) {
        pthread_mutex_lock(&common->mutex);
        __atomic_store_n(&common->waits, 1, __ATOMIC_SEQ_CST);
        while (!common->is_changed)
            pthread_cond_wait(&common->changed, &common->mutex);
        pthread_mutex_unlock(&common->mutex);
    }
    int signal;
    if (is_way("signal") || is_way("end") || is_way("spawned"))
        sigwait(signals, &signal);
    return NULL;
}

int main(int argc, char **argv) {
    way = argc > 1 ? argv[1] : "semaphore";
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, is_way("signal") ? SIGUSR1 : SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    make_common();
    pid_t child;
    if (is_way("spawned")) {
        char *arguments[] = {"true", NULL};
        if (posix_spawnp(&child, "true", NULL, NULL, arguments, environ) != 0)
            return 1;
    } else {
        child = fork();
        if (child == 0)
            run_child();
    }
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_it, &signals);
    pthread_join(thread, NULL);
    int status;
    return waitpid(child, &status, 0) != child || status != 0;
}
