/* A child answers what main writes to it; another thread reads the answer. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

static int question[2], answer[2];

static void *read_answer(void *unused)
{
    char byte = 0;
    assert(read(answer[0], &byte, 1) == 1);
    assert(byte == 'b');
    return unused;
}

int main(void)
{
    pthread_t thread;
    pid_t child;

    if (pipe(question) != 0 || pipe(answer) != 0)
        return 1;
    child = fork();
    if (child == 0) {
        char byte = 0;
        if (read(question[0], &byte, 1) != 1)
            _exit(1);
        byte++;
        _exit(write(answer[1], &byte, 1) != 1);
    }
    pthread_create(&thread, NULL, read_answer, NULL);
    assert(write(question[1], "a", 1) == 1);
    pthread_join(thread, NULL);
    waitpid(child, NULL, 0);
    return 0;
}
