/* Two robots each take a tool, and then try for the other tool until they have got it.
 *
 * Wrong (livelock): they begin with different tools, and neither lays its first tool down while it tries for the second.
 * Finding: livelock, both try for ever.
 * Preemptions: 1. With 0, a robot that has its first tool goes on, finds the second one free, and lays down both before the
 * other robot begins. With 1: stop a robot when it has its first tool, and let the other one take its own first tool. Each
 * then tries for what the other one has.
 */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t torch = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t clamp = PTHREAD_MUTEX_INITIALIZER;
static int joints_welded;

static void weld(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(first);
    while (pthread_mutex_trylock(second) != 0) /* FAILS HERE */
        ;
    joints_welded++;
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *left_robot(void *unused)
{
    weld(&torch, &clamp);
    return unused;
}

static void *right_robot(void *unused)
{
    weld(&clamp, &torch);
    return unused;
}

int main(void)
{
    pthread_t left, right;

    pthread_create(&left, NULL, left_robot, NULL);
    pthread_create(&right, NULL, right_robot, NULL);
    pthread_join(left, NULL);
    pthread_join(right, NULL);
    return joints_welded == 2 ? 0 : 1;
}
