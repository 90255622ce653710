// A constructor finds that something is missing: main is never reached.

#include <assert.h>
#include <stddef.h>

static const char *table;

__attribute__((constructor)) static void check(void)
{
    assert(table != NULL && "no table given");
}

int main(void)
{
    return 0;
}
