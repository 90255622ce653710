/* A thread waits for a word of memory that the process has at two addresses, in a way in which the other thread does not wake it: by calls that
 * are private to the process, for which the two addresses are two futexes (-DTWO), or by a private wait and a wake that is not private
 * (-DMIXED). The same comes of a semaphore (-DSEMAPHORE), a mutex (-DMUTEX) and a futex with priority inheritance (-DHEIR) that are private to
 * the process and used at both addresses. With -DTRY, all are for other processes as well, and with -DPLACE they are private and used at one
 * address. */
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096 };

#ifdef TRY
enum { SHARED = 1, PRIVATE = 0 };
#else
enum { SHARED = 0, PRIVATE = FUTEX_PRIVATE_FLAG };
#endif

struct memory {
    atomic_int word;
    sem_t semaphore;
    pthread_mutex_t mutex;
    int counter;
};

static struct memory *waits_at, *wakes_at;

#if defined SEMAPHORE
static void *waits(void *unused)
{
    sem_wait(&waits_at->semaphore);
    return unused;
}

static void wakes(void)
{
    sem_post(&wakes_at->semaphore);
}
#elif defined MUTEX
static void *waits(void *unused)
{
    pthread_mutex_lock(&waits_at->mutex);
    waits_at->counter++;
    pthread_mutex_unlock(&waits_at->mutex);
    return unused;
}

static void wakes(void)
{
    pthread_mutex_lock(&wakes_at->mutex);
    wakes_at->counter++;
    pthread_mutex_unlock(&wakes_at->mutex);
}
#elif defined HEIR
static void adds(struct memory *memory)
{
    syscall(SYS_futex, &memory->word, FUTEX_LOCK_PI | PRIVATE, 0, NULL);
    memory->counter++;
    syscall(SYS_futex, &memory->word, FUTEX_UNLOCK_PI | PRIVATE);
}

static void *waits(void *unused)
{
    adds(waits_at);
    return unused;
}

static void wakes(void)
{
    adds(wakes_at);
}
#else
static void *waits(void *unused)
{
    while (!waits_at->word)
        syscall(SYS_futex, &waits_at->word, FUTEX_WAIT | PRIVATE, 0, NULL);
    return unused;
}

static void wakes(void)
{
    wakes_at->word = 1;
#ifdef MIXED
    syscall(SYS_futex, &wakes_at->word, FUTEX_WAKE, 1);
#else
    syscall(SYS_futex, &wakes_at->word, FUTEX_WAKE | PRIVATE, 1);
#endif
}
#endif

int main(void)
{
    pthread_t thread;
    pthread_mutexattr_t attributes;
    int file = memfd_create("memory", 0);
    assert(file >= 0 && ftruncate(file, PAGE) == 0);
    waits_at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    wakes_at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert(waits_at != MAP_FAILED && wakes_at != MAP_FAILED);
#if defined MIXED || defined PLACE
    waits_at = wakes_at;
#endif
    sem_init(&waits_at->semaphore, SHARED, 0);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, SHARED ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
    pthread_mutex_init(&waits_at->mutex, &attributes);
    pthread_create(&thread, NULL, waits, NULL);
    wakes();
    pthread_join(thread, NULL);
    return 0;
}
