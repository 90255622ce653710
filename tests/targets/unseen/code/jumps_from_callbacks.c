/* The C library, or the kernel, calls back a function of the program that ends with a call of the library: compiled with optimisation,
 * that is a jump, and what is jumped to returns to the library. What it writes is the program's all the same. -DHANDLER,
 * -DDESTRUCTOR: called back as the handler of a signal, as the destructor of a thread's key, in place of once. -DENVIRONMENT: what is
 * written is not named by an argument. -DTRY: the other thread looks when this is over. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

static struct timespec stamp;

#ifdef ENVIRONMENT
static void end(void) { setenv("CALLED_BACK", "yes", 1); }
static int is_there(void) { return getenv("CALLED_BACK") != NULL; }
#else
static void end(void) { clock_gettime(CLOCK_REALTIME, &stamp); }
static int is_there(void) { return *(volatile time_t *)&stamp.tv_sec != 0; }
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

static void handler(int signal) {
    (void)signal;
    end();
}

static void destructor(void *value) {
    (void)value;
    end();
}

static void *run(void *unused) {
    (void)unused;
#if defined HANDLER
    (void)destructor;
    raise(SIGUSR1);
#elif defined DESTRUCTOR
    pthread_setspecific(key, &key);
#else
    pthread_once(&once, end);
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    signal(SIGUSR1, handler);
    pthread_key_create(&key, destructor);
    pthread_create(&thread, NULL, run, NULL);
#ifdef TRY
    pthread_join(thread, NULL);
    return !is_there();
#else
    int seen = is_there();
    pthread_join(thread, NULL);
    return seen;
#endif
}
