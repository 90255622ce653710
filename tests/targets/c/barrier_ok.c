/* Two polling stations: each counts its votes, the last one adds them up, then each works out its share.
 *
 * Right: a second barrier is between the addition and the first use of the total.
 */
#include <pthread.h>
#include <stddef.h>

enum { STATIONS = 2 };

static pthread_barrier_t counted;
static int votes[STATIONS];
static int percent[STATIONS];
static int total;

static void *count_station(void *place)
{
    int *count = place;
    size_t station = (size_t)(count - votes);

    *count += 30 + 40 * (int)station;
    pthread_barrier_wait(&counted);
    if (station == STATIONS - 1)
        total = votes[0] + votes[1];
    pthread_barrier_wait(&counted);
    percent[station] = 100 * votes[station] / total;
    return NULL;
}

int main(void)
{
    pthread_t stations[STATIONS];

    pthread_barrier_init(&counted, NULL, STATIONS);
    for (int i = 0; i < STATIONS; i++)
        pthread_create(&stations[i], NULL, count_station, &votes[i]);
    for (int i = 0; i < STATIONS; i++)
        pthread_join(stations[i], NULL);
    pthread_barrier_destroy(&counted);
    return percent[0] == 30 && percent[1] == 70 ? 0 : 1;
}
