/* A device with an updater, a monitor and a motor control.
 *
 * Right: the monitor has the watchdog switched off only while it holds the lock that the motor control takes for every
 * movement.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_mutex_t motor_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool updating;
static atomic_bool watchdog_off;

static void *update_firmware(void *unused)
{
    (void)unused;
    atomic_store(&updating, true);
    atomic_store(&updating, false);
    return NULL;
}

static void *monitor(void *unused)
{
    (void)unused;
    if (atomic_load(&updating)) {
        pthread_mutex_lock(&motor_lock);
        atomic_store(&watchdog_off, true);
        atomic_store(&watchdog_off, false);
        pthread_mutex_unlock(&motor_lock);
    }
    return NULL;
}

static void *drive_motor(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&motor_lock);
    assert(!atomic_load(&watchdog_off));
    pthread_mutex_unlock(&motor_lock);
    return NULL;
}

int main(void)
{
    void *(*const services[])(void *) = { update_firmware, monitor, drive_motor };
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, services[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
