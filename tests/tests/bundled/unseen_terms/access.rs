//! The load and the store of one cell, as the C bodies of two functions.

/// A way to load and store.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub(super) name: &'static str,
    /// The type of a cell.
    pub(super) cell: &'static str,
    /// A number that is added to a value in a cell, so that a byte is a printable character.
    pub(super) offset: u32,
    /// The largest number of times that it is done on private memory.
    pub(super) most_rounds: u64,
    /// Whether claims are to be made: the tool is able to watch it, and each load and store is one access.
    pub(super) is_claimable: bool,
    /// At file scope.
    pub(super) declarations: &'static str,
    /// In `main`, for the job `me`.
    pub(super) prepare: &'static str,
    /// Before the first store to the cell `p`.
    pub(super) fresh: &'static str,
    /// Returns what is in the cell `p`.
    pub(super) load: &'static str,
    /// Puts `v` there.
    pub(super) store: &'static str,
    /// Adds `v` to what is there, in one instruction that is not indivisible; empty without such a one.
    pub(super) add: &'static str,
}

const PLAIN: Access = Access {
    name: "plain",
    cell: "int",
    offset: 0,
    most_rounds: 10_000,
    is_claimable: true,
    declarations: "",
    prepare: "",
    fresh: "",
    load: "return *(volatile T *)&p->value;",
    store: "*(volatile T *)&p->value = v;",
    add: "",
};

/// Values are characters of text. A function that goes through more than one byte is no single access.
const TEXT: Access = Access { cell: "char", offset: 33, most_rounds: 300, is_claimable: false, ..PLAIN };

/// Through a pipe of the thread.
const PIPE: Access = Access {
    // All that may block is one object.
    most_rounds: 0,
    prepare: "int ends[2]; assert(!pipe(ends)); me->in = ends[0]; me->out = ends[1];",
    load: "T w; write(me->out, &p->value, sizeof w); read(me->in, &w, sizeof w); return w;",
    store: "T w = v; write(me->out, &w, sizeof w); read(me->in, &p->value, sizeof w);",
    ..PLAIN
};

/// Through a file of the thread.
pub(super) const FILE: Access = Access {
    name: "file",
    most_rounds: 10,
    prepare: "me->in = memfd_create(&\"0123\"[me->who], 0);",
    load: "T w; pwrite(me->in, &p->value, sizeof w, 0); pread(me->in, &w, sizeof w, 0); return w;",
    store: "T w = v; pwrite(me->in, &w, sizeof w, 0); pread(me->in, &p->value, sizeof w, 0);",
    ..PIPE
};

/// The cell is a descriptor, and its value something that the kernel keeps.
pub(super) const KEPT: Access = Access {
    prepare: "",
    declarations: "static int files;",
    fresh: "p->value = memfd_create(&\"0123456789abcdef\"[files++ & 15], 0);",
    most_rounds: 10,
    load: "int w = 0; assert(pread(p->value, &w, sizeof w, 0) >= 0); return w;",
    store: "assert(pwrite(p->value, &v, sizeof v, 0) == sizeof v);",
    ..PIPE
};

const COPY: Access = Access {
    declarations: "static volatile size_t size = sizeof(T);",
    load: "T w; memcpy(&w, &p->value, size); return w;",
    store: "T w = v; memcpy(&p->value, &w, size);",
    most_rounds: 300,
    ..PLAIN
};

/// Those that are drawn most often.
pub(super) const USUAL: [Access; 5] = [
    PLAIN,
    Access { name: "plain-byte", cell: "unsigned char", ..PLAIN },
    Access { name: "plain-short", cell: "short", ..PLAIN },
    Access { name: "plain-long", cell: "long", ..PLAIN },
    Access {
        name: "relaxed",
        load: "return __atomic_load_n(&p->value, __ATOMIC_RELAXED);",
        store: "__atomic_store_n(&p->value, v, __ATOMIC_RELAXED);",
        ..PLAIN
    },
];

/// Single instructions and system calls.
pub(super) const INSTRUCTIONS: [Access; 26] = [
    Access {
        name: "add",
        add: "asm volatile(\"addl %1, (%0)\" :: \"r\"(&p->value), \"r\"(v) : \"memory\", \"cc\");",
        ..PLAIN
    },
    Access {
        name: "add-byte",
        cell: "unsigned char",
        add: "asm volatile(\"addb %b1, (%0)\" :: \"r\"(&p->value), \"q\"(v) : \"memory\", \"cc\");",
        ..PLAIN
    },
    Access {
        name: "parts",
        load: "if (me->who & 1) return *(volatile unsigned char *)&p->value; return *(volatile short *)&p->value;",
        store: "if (me->who & 1) *(volatile short *)&p->value = v; else *(volatile int *)&p->value = v;",
        ..PLAIN
    },
    Access {
        name: "movs",
        load: "T w; void *to = &w; void *from = &p->value;\n    asm volatile(\"movsl\" : \"+D\"(to), \"+S\"(from) :: \"memory\"); return w;",
        store: "T w = v; void *to = &p->value; void *from = &w;\n    asm volatile(\"movsl\" : \"+D\"(to), \"+S\"(from) :: \"memory\");",
        ..PLAIN
    },
    Access {
        name: "rep-movsb",
        cell: "unsigned char",
        load: "T w; void *to = &w; void *from = &p->value; long n = 1;\n    asm volatile(\"rep movsb\" : \"+D\"(to), \"+S\"(from), \"+c\"(n) :: \"memory\"); return w;",
        store: "T w = v; void *to = &p->value; void *from = &w; long n = 1;\n    asm volatile(\"rep movsb\" : \"+D\"(to), \"+S\"(from), \"+c\"(n) :: \"memory\");",
        ..PLAIN
    },
    Access {
        name: "lods-stos",
        load: "int w; void *from = &p->value; asm volatile(\"lodsl\" : \"=a\"(w), \"+S\"(from) :: \"memory\"); return w;",
        store: "void *to = &p->value; asm volatile(\"stosl\" : \"+D\"(to) : \"a\"(v) : \"memory\");",
        ..PLAIN
    },
    Access {
        name: "movd",
        load: "int w; asm volatile(\"movd (%1), %%xmm0\\n movd %%xmm0, %0\" : \"=r\"(w) : \"r\"(&p->value) : \"memory\", \"xmm0\"); return w;",
        store: "asm volatile(\"movd %0, %%xmm0\\n movd %%xmm0, (%1)\" :: \"r\"(v), \"r\"(&p->value) : \"memory\", \"xmm0\");",
        ..PLAIN
    },
    Access {
        name: "push-pop",
        cell: "long",
        load: "long w; asm volatile(\"lea -128(%%rsp), %%rsp\\n pushq (%1)\\n popq %0\\n lea 128(%%rsp), %%rsp\" : \"=r\"(w) : \"r\"(&p->value) : \"memory\"); return w;",
        store: "long w = v; asm volatile(\"lea -128(%%rsp), %%rsp\\n pushq %0\\n popq (%1)\\n lea 128(%%rsp), %%rsp\" :: \"r\"(w), \"r\"(&p->value) : \"memory\");",
        ..PLAIN
    },
    Access {
        name: "cmpxchg-xchg",
        load: "int w = 0; asm volatile(\"lock cmpxchgl %1, (%2)\" : \"+a\"(w) : \"r\"(0), \"r\"(&p->value) : \"memory\", \"cc\"); return w;",
        store: "asm volatile(\"xchgl %0, (%1)\" : \"+r\"(v) : \"r\"(&p->value) : \"memory\");",
        ..PLAIN
    },
    Access {
        name: "x87",
        load: "int w; asm volatile(\"fildl (%1)\\n fistpl (%0)\" :: \"r\"(&w), \"r\"(&p->value) : \"memory\"); return w;",
        store: "int w = v; asm volatile(\"fildl (%0)\\n fistpl (%1)\" :: \"r\"(&w), \"r\"(&p->value) : \"memory\");",
        ..PLAIN
    },
    Access {
        name: "masked",
        is_claimable: false,
        load: "int w; asm volatile(\"pxor %%xmm0, %%xmm0\\n pinsrw $0, (%1), %%xmm0\\n movd %%xmm0, %0\" : \"=r\"(w) : \"r\"(&p->value) : \"memory\", \"xmm0\"); return w;",
        store: "int on = -1; asm volatile(\"movd %0, %%xmm0\\n movd %1, %%xmm1\\n maskmovdqu %%xmm1, %%xmm0\\n sfence\" :: \"r\"(v), \"r\"(on), \"D\"(&p->value) : \"memory\", \"xmm0\", \"xmm1\");",
        ..PLAIN
    },
    Access {
        name: "xlat",
        cell: "unsigned char",
        load: "int w = 0; asm volatile(\"xlatb\" : \"+a\"(w) : \"b\"(&p->value) : \"memory\"); return w;",
        ..PLAIN
    },
    Access {
        name: "movnti",
        store: "asm volatile(\"movnti %0, (%1)\\n sfence\" :: \"r\"(v), \"r\"(&p->value) : \"memory\");",
        ..PLAIN
    },
    Access {
        name: "index",
        load: "int w; long index = (long)p >> 2; asm volatile(\"movl (,%1,4), %0\" : \"=r\"(w) : \"r\"(index) : \"memory\"); return w;",
        store: "long index = (long)p >> 2; asm volatile(\"movl %0, (,%1,4)\" :: \"r\"(v), \"r\"(index) : \"memory\");",
        ..PLAIN
    },
    Access {
        name: "mxcsr",
        offset: 0x1f80,
        load: "int w; asm volatile(\"ldmxcsr (%1)\\n stmxcsr (%0)\" :: \"r\"(&w), \"r\"(&p->value) : \"memory\"); return w;",
        store: "int w = v; asm volatile(\"ldmxcsr (%0)\\n stmxcsr (%1)\" :: \"r\"(&w), \"r\"(&p->value) : \"memory\");",
        ..PLAIN
    },
    Access {
        name: "segment",
        load: "int w; long from = (long)&p->value; asm volatile(\"subq %%fs:0, %1\\n movl %%fs:(%1), %0\" : \"=r\"(w), \"+r\"(from) :: \"memory\", \"cc\"); return w;",
        store: "long to = (long)&p->value; asm volatile(\"subq %%fs:0, %0\\n movl %1, %%fs:(%0)\" : \"+r\"(to) : \"r\"(v) : \"memory\", \"cc\");",
        ..PLAIN
    },
    Access {
        name: "short-address",
        load: "if ((long)p >> 32) return *(volatile T *)&p->value;\n    \
               int w; asm volatile(\"movl (%k1), %0\" : \"=r\"(w) : \"r\"((long)p) : \"memory\"); return w;",
        store: "if ((long)p >> 32) *(volatile T *)&p->value = v;\n    \
                else asm volatile(\"movl %0, (%k1)\" :: \"r\"(v), \"r\"((long)p) : \"memory\");",
        ..PLAIN
    },
    Access {
        name: "pinsrd",
        load: "int w; asm volatile(\"pinsrd $1, (%1), %%xmm3\\n pextrd $1, %%xmm3, %0\" : \"=r\"(w) : \"r\"(&p->value) : \"memory\", \"xmm3\"); return w;",
        store: "asm volatile(\"pinsrd $2, %0, %%xmm3\\n pextrd $2, %%xmm3, (%1)\" :: \"r\"(v), \"r\"(&p->value) : \"memory\", \"xmm3\");",
        ..PLAIN
    },
    Access {
        name: "convert",
        load: "double w; asm volatile(\"cvtsi2sdl (%1), %0\" : \"=x\"(w) : \"r\"(&p->value) : \"memory\"); return (int)w;",
        store: "asm volatile(\"movbe %0, (%1)\" :: \"r\"(__builtin_bswap32(v)), \"r\"(&p->value) : \"memory\");",
        ..PLAIN
    },
    Access {
        name: "conditional",
        load: "int w; asm volatile(\"xorl %0, %0\\n cmovzl (%1), %0\" : \"=&r\"(w) : \"r\"(&p->value) : \"memory\", \"cc\"); return w;",
        add: "asm volatile(\"stc\\n adcl %1, (%0)\" :: \"r\"(&p->value), \"r\"(v - 1) : \"memory\", \"cc\");",
        ..PLAIN
    },
    Access {
        name: "scan",
        cell: "unsigned char",
        load: "int w = 0; void *from = &p->value; unsigned char is; asm volatile(\"lodsb\" : \"=a\"(is), \"+S\"(from) :: \"memory\"); return is;",
        store: "void *to = &p->value; long n = 1; asm volatile(\"rep stosb\" : \"+D\"(to), \"+c\"(n) : \"a\"(v) : \"memory\");",
        ..PLAIN
    },
    Access {
        name: "masked-avx",
        is_claimable: false,
        load: "int w, on = -1; asm volatile(\"vmovd %2, %%xmm1\\n vpmaskmovd (%1), %%xmm1, %%xmm0\\n vmovd %%xmm0, %0\" : \"=r\"(w) : \"r\"(&p->value), \"r\"(on) : \"memory\", \"xmm0\", \"xmm1\"); return w;",
        store: "int on = -1; asm volatile(\"vmovd %2, %%xmm1\\n vmovd %0, %%xmm0\\n vpmaskmovd %%xmm0, %%xmm1, (%1)\" :: \"r\"(v), \"r\"(&p->value), \"r\"(on) : \"memory\", \"xmm0\", \"xmm1\");",
        ..PLAIN
    },
    Access {
        name: "gather",
        is_claimable: false,
        load: "int w, on = -1; long at = (long)&p->value; asm volatile(\"vmovd %2, %%xmm1\\n vmovq %1, %%xmm2\\n vpgatherqd %%xmm1, 0(,%%xmm2,1), %%xmm0\\n vmovd %%xmm0, %0\" : \"=r\"(w) : \"r\"(at), \"r\"(on) : \"memory\", \"xmm0\", \"xmm1\", \"xmm2\"); return w;",
        ..PLAIN
    },
    Access {
        name: "stack-pointer",
        cell: "long",
        is_claimable: false,
        load: "long w; asm volatile(\"movq %%rsp, %%rcx\\n movq %1, %%rsp\\n popq %0\\n movq %%rcx, %%rsp\" : \"=&a\"(w) : \"d\"(&p->value) : \"memory\", \"rcx\"); return w;",
        store: "long w = v; asm volatile(\"movq %%rsp, %%rcx\\n leaq 8(%1), %%rsp\\n pushq %0\\n movq %%rcx, %%rsp\" :: \"a\"(w), \"d\"(&p->value) : \"memory\", \"rcx\");",
        ..PLAIN
    },
    Access {
        name: "exchange-add",
        add: "asm volatile(\"xaddl %0, (%1)\" : \"+r\"(v) : \"r\"(&p->value) : \"memory\", \"cc\");",
        load: "int w; asm volatile(\"movl $0, %0\\n orl (%1), %0\" : \"=&r\"(w) : \"r\"(&p->value) : \"memory\", \"cc\"); return w;",
        ..PLAIN
    },
    Access {
        name: "generated",
        is_claimable: false,
        most_rounds: 300,
        declarations: "static unsigned char *code;",
        prepare: "if (!code) { code = (unsigned char *)mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n        memcpy(code, \"\\x8b\\x07\\xc3\\x90\\x89\\x37\\xc3\", 7); }",
        load: "return ((int (*)(T *))code)(&p->value);",
        store: "((void (*)(T *, int))(code + 4))(&p->value, v);",
        ..PLAIN
    },
];

/// Functions of the C library.
pub(super) const FUNCTIONS: [Access; 13] = [
    Access { name: "memcpy", is_claimable: false, ..COPY },
    Access { name: "memcpy-byte", cell: "unsigned char", ..COPY },
    Access {
        name: "memmove",
        is_claimable: false,
        load: "T w; memmove(&w, &p->value, size); return w;",
        store: "T w = v; memmove(&p->value, &w, size);",
        ..COPY
    },
    Access {
        name: "mempcpy-bcopy",
        load: "T w; mempcpy(&w, &p->value, size); return w;",
        store: "T w = v; bcopy(&w, &p->value, size);",
        cell: "unsigned char",
        ..COPY
    },
    Access {
        name: "copy-by-pointer",
        most_rounds: 3_000,
        is_claimable: false,
        declarations: "static volatile size_t size = sizeof(T); static void *(*volatile copy)(void *, const void *, size_t) = memcpy;",
        load: "T w; copy(&w, &p->value, size); return w;",
        store: "T w = v; copy(&p->value, &w, size);",
        cell: "unsigned char",
        ..COPY
    },
    Access { name: "memset", store: "memset(&p->value, v, size);", cell: "unsigned char", ..COPY },
    Access {
        name: "strcpy",
        load: "char w[4]; strcpy(w, &p->value); return w[0];",
        store: "char w[2] = {(char)v}; strcpy(&p->value, w);",
        ..TEXT
    },
    Access {
        name: "strncpy-stpcpy",
        load: "char w[4] = \"\"; strncpy(w, &p->value, 1); return w[0];",
        store: "char w[2] = {(char)v}; stpcpy(&p->value, w);",
        ..TEXT
    },
    Access {
        name: "strchr",
        declarations: "static char all[128];",
        prepare: "for (int i = 1; i < 128; i++) all[i - 1] = i;",
        load: "char w[4] = \"\"; strcat(w, &p->value); return 1 + (strchr(all, w[0]) - all);",
        ..TEXT
    },
    Access {
        name: "printf",
        load: "char w[4]; snprintf(w, sizeof w, \"%s\", &p->value); return w[0];",
        store: "snprintf(&p->value, 2, \"%c\", v);",
        ..TEXT
    },
    Access {
        name: "scanf",
        load: "char w; sscanf(&p->value, \"%c\", &w); return w;",
        store: "char w[2] = {(char)v}; sscanf(w, \"%c\", &p->value);",
        ..TEXT
    },
    Access {
        name: "memchr",
        load: "char w[4]; memccpy(w, &p->value, 0, 2); return w[0];",
        store: "char w[2] = {(char)v}; memccpy(&p->value, w, 0, 1);",
        ..TEXT
    },
    Access {
        name: "strdup",
        load: "char *w = strdup(&p->value); int is = w[0]; free(w); return is;",
        ..TEXT
    },
];

/// The kernel reads and writes.
pub(super) const CALLS: [Access; 11] = [
    Access { name: "pipe", ..PIPE },
    Access { name: "pipe-store", load: PLAIN.load, ..PIPE },
    Access {
        name: "vectors",
        load: "T w; struct iovec of = {&p->value, sizeof w}, to = {&w, sizeof w}; writev(me->out, &of, 1); readv(me->in, &to, 1); return w;",
        store: "T w = v; struct iovec of = {&w, sizeof w}, to = {&p->value, sizeof w}; writev(me->out, &of, 1); readv(me->in, &to, 1);",
        ..PIPE
    },
    Access {
        name: "socket",
        prepare: "int ends[2]; assert(!socketpair(AF_UNIX, SOCK_DGRAM, 0, ends)); me->in = ends[0]; me->out = ends[1];",
        load: "T w; send(me->out, &p->value, sizeof w, 0); recv(me->in, &w, sizeof w, 0); return w;",
        store: "T w = v; send(me->out, &w, sizeof w, 0); recv(me->in, &p->value, sizeof w, 0);",
        ..PIPE
    },
    FILE,
    Access { name: "file-byte", cell: "unsigned char", ..FILE },
    Access {
        name: "option",
        offset: 1,
        prepare: "me->in = socket(AF_UNIX, SOCK_STREAM, 0);",
        load: "int w = 0; socklen_t size = sizeof w; setsockopt(me->in, SOL_SOCKET, SO_RCVLOWAT, &p->value, size);\n    \
               getsockopt(me->in, SOL_SOCKET, SO_RCVLOWAT, &w, &size); return w;",
        store: "socklen_t size = sizeof v; setsockopt(me->in, SOL_SOCKET, SO_RCVLOWAT, &v, size);\n    \
                getsockopt(me->in, SOL_SOCKET, SO_RCVLOWAT, &p->value, &size);",
        ..PIPE
    },
    Access { name: "counter", cell: "long", offset: 1, prepare: "me->in = me->out = eventfd(0, 0);", ..PIPE },
    Access {
        name: "counter-function",
        cell: "long",
        offset: 1,
        is_claimable: false,
        prepare: "me->in = eventfd(0, 0);",
        load: "eventfd_t w; eventfd_write(me->in, *(volatile T *)&p->value); eventfd_read(me->in, &w); return w;",
        store: "eventfd_write(me->in, v); eventfd_read(me->in, (eventfd_t *)&p->value);",
        ..PIPE
    },
    Access {
        name: "joined",
        cell: "long",
        declarations: "static void *give(void *argument) { return argument; }",
        prepare: "",
        load: PLAIN.load,
        store: "pthread_t inner; pthread_create(&inner, 0, give, (void *)(long)v); pthread_join(inner, (void **)&p->value);",
        ..PIPE
    },
    Access {
        name: "waiting-bytes",
        load: PLAIN.load,
        store: "char w[128]; write(me->out, w, v); ioctl(me->in, FIONREAD, &p->value); if (v) read(me->in, w, v);",
        ..PIPE
    },
];

/// In a library that the program loads before it has threads, or in each thread when it comes to it.
pub(super) const PLUG_INS: [Access; 2] = [
    Access {
        name: "plug-in",
        is_claimable: false,
        most_rounds: 300,
        declarations: "static int (*plug_get)(T *); static void (*plug_put)(T *, int);",
        prepare: "void *plug_in = dlopen(PLUG_IN, RTLD_NOW); assert(plug_in);\n    \
                  plug_get = (int (*)(T *))dlsym(plug_in, \"plug_get\"); plug_put = (void (*)(T *, int))dlsym(plug_in, \"plug_put\");",
        load: "return plug_get(&p->value);",
        store: "plug_put(&p->value, v);",
        ..PLAIN
    },
    Access {
        name: "late-plug-in",
        is_claimable: false,
        most_rounds: 10,
        load: "void *plug_in = dlopen(PLUG_IN, RTLD_NOW); return ((int (*)(T *))dlsym(plug_in, \"plug_get\"))(&p->value);",
        store: "void *plug_in = dlopen(PLUG_IN, RTLD_NOW); ((void (*)(T *, int))dlsym(plug_in, \"plug_put\"))(&p->value, v);",
        ..PLAIN
    },
];

/// The source of the library.
pub(super) const LIBRARY: &str = "int plug_get(volatile int *p) { return *p; }\n\
                                  void plug_put(volatile int *p, int v) { *p = v; }\n";
