/* A bounded job queue: main puts two jobs, each of two workers takes one.
 *
 * Wrong: `take` tests for the empty queue with `if` where it needs `while`. Between the signal and the moment at which
 * the woken worker has the lock again, the other worker can take the job.
 * Finding: assertion, in `take`.
 * Preemptions: 1. With 0, main puts its first job before any worker runs, then blocks on the full queue; a worker that
 * waits later is woken for a job that nobody else is there to take. With 1: stop main before it puts, let the first
 * worker wait; main puts a job, which wakes it, and blocks; now the second worker takes the job, and the first one finds
 * nothing.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { CAPACITY = 1, WORKERS = 2 };

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static int jobs[CAPACITY];
static int count;

static void put(int job)
{
    pthread_mutex_lock(&queue_lock);
    while (count == CAPACITY)
        pthread_cond_wait(&not_full, &queue_lock);
    jobs[count++] = job;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&queue_lock);
}

static int take(void)
{
    pthread_mutex_lock(&queue_lock);
    if (count == 0)
        pthread_cond_wait(&not_empty, &queue_lock);
    assert(count > 0); /* FAILS HERE */
    int job = jobs[--count];
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&queue_lock);
    return job;
}

static void *work(void *job)
{
    *(int *)job = take();
    return NULL;
}

int main(void)
{
    pthread_t workers[WORKERS];
    int done[WORKERS];

    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, &done[i]);
    for (int i = 0; i < WORKERS; i++)
        put(100 + i);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    assert(done[0] + done[1] == 201);
    return 0;
}
