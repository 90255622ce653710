// A library of the system's creates threads while the program has one alone: what they do to memory is not seen. The library is that of
// zstd, which comes without its headers.

#include <assert.h>
#include <stddef.h>

struct context;
struct context *ZSTD_createCCtx(void);
size_t ZSTD_CCtx_setParameter(struct context *, int parameter, int value);
size_t ZSTD_compress2(struct context *, void *to, size_t room, const void *from, size_t length);
unsigned ZSTD_isError(size_t result);

enum { NUMBER_OF_WORKERS = 400 };

int main(void)
{
    static char text[600 << 10];
    static char compressed[sizeof text];
    struct context *context = ZSTD_createCCtx();
    assert(!ZSTD_isError(ZSTD_CCtx_setParameter(context, NUMBER_OF_WORKERS, 2)));
    assert(!ZSTD_isError(ZSTD_compress2(context, compressed, sizeof compressed, text, sizeof text)));
    return 0;
}
