/* A device with an updater, a monitor and a motor control.
 *
 * Wrong (a window within a window): while the updater writes the firmware, the monitor may switch the watchdog off for a
 * moment; the motor must never be driven without the watchdog, but nothing keeps the motor thread out.
 * Finding: assertion, in `drive_motor`.
 * Preemptions: 2, in three threads. The motor fails only while `watchdog_off` is set, which is between two operations of
 * the monitor: one preemption, of the monitor. The monitor gets there only if it has looked while `updating` was set,
 * which is between two operations of the updater: another one. Nobody blocks in between.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

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
        atomic_store(&watchdog_off, true);
        atomic_store(&watchdog_off, false);
    }
    return NULL;
}

static void *drive_motor(void *unused)
{
    (void)unused;
    assert(!atomic_load(&watchdog_off)); /* FAILS HERE */
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
