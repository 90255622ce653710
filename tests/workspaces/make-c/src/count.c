#include "count.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

void count_execution(void)
{
    const char *path = getenv("COUNT_EXECUTIONS");

    if (path) {
        int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);

        if (file < 0 || write(file, ".", 1) != 1)
            exit(2);
        close(file);
    }
}
