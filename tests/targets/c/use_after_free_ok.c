/* A server hands a request to a worker, waits for the answer, and drops the request.
 *
 * Right: that it has answered is the last thing that the worker has to do with the request.
 */
#include <pthread.h>
#include <stdlib.h>

struct request {
    int number;
    int status;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static int has_answer;
static int last_number;

static struct request *receive(int number)
{
    struct request *request = malloc(sizeof *request);
    request->number = number;
    request->status = 0;
    return request;
}

static void *serve(void *argument)
{
    struct request *request = argument;

    request->status = 200;
    last_number = request->number;
    pthread_mutex_lock(&lock);
    has_answer = 1;
    pthread_cond_signal(&answered);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t worker;
    struct request *request = receive(7);

    pthread_create(&worker, NULL, serve, request);
    pthread_mutex_lock(&lock);
    while (!has_answer)
        pthread_cond_wait(&answered, &lock);
    pthread_mutex_unlock(&lock);
    int status = request->status;
    free(request);
    pthread_join(worker, NULL);
    return status == 200 && last_number == 7 ? 0 : 1;
}
