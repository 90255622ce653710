/* Two threads lose an update of an element of an array on the heap. What blocks hold is known from pointers to them only. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct {
    int packets;
    int drops;
} port;

struct card {
    pthread_mutex_t lock;
    port *ports;
    int seen;
};

static void *receive(void *argument)
{
    struct card *card = argument;
    port *port = &card->ports[1];

    port->drops++; /* LOSES AN UPDATE */
    pthread_mutex_lock(&card->lock);
    card->seen++;
    pthread_mutex_unlock(&card->lock);
    return NULL;
}

static struct card *new_card(void)
{
    struct card *card = malloc(sizeof *card);
    pthread_mutex_init(&card->lock, NULL);
    card->ports = calloc(3, sizeof *card->ports);
    card->seen = 0;
    return card;
}

int main(void)
{
    pthread_t first, second;
    struct card *card = new_card();

    pthread_create(&first, NULL, receive, card);
    pthread_create(&second, NULL, receive, card);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(card->ports[1].drops == 2);
    return 0;
}
