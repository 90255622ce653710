/* A thread reads what another program writes; main and it count. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void add(void)
{
    pthread_mutex_lock(&mutex);
    count++;
    pthread_mutex_unlock(&mutex);
}

static void *read_it(void *unused)
{
    char line[16] = "";
    FILE *program = popen("echo hello; sleep 0.05", "r");
    assert(program != NULL && fgets(line, sizeof line, program) != NULL);
    assert(strcmp(line, "hello\n") == 0);
    pclose(program);
    add();
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, read_it, NULL);
    add();
    pthread_join(thread, NULL);
    assert(count == 2);
    return 0;
}
