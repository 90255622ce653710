//! Cells that are no memory of the program: what the kernel or the C library keeps, by a number that is in the memory.

use super::access::{Access, KEPT};

/// The number says which of two; what is touched before would be one of them.
const ONE_OF_TWO: Access =
    Access { most_rounds: 0, declarations: "static int made;", fresh: "p->value = made++ & 1;", ..KEPT };

pub(super) const KEPT_ONES: [Access; 11] = [
    Access { name: "content", ..KEPT },
    Access {
        name: "offset",
        load: "return lseek(p->value, 0, SEEK_CUR);",
        store: "lseek(p->value, v, SEEK_SET);",
        ..KEPT
    },
    Access {
        name: "length",
        load: "struct stat is; fstat(p->value, &is); return is.st_size;",
        store: "ftruncate(p->value, v);",
        ..KEPT
    },
    Access {
        name: "mode",
        load: "struct stat is; fstat(p->value, &is); return is.st_mode & 0777;",
        store: "fchmod(p->value, v);",
        ..KEPT
    },
    Access {
        name: "modified",
        load: "struct stat is; fstat(p->value, &is); return is.st_mtim.tv_sec;",
        store: "struct timespec w[2] = {{v, 0}, {v, 0}}; assert(!futimens(p->value, w));",
        ..KEPT
    },
    Access {
        name: "mapped-content",
        is_claimable: false,
        fresh: "p->value = memfd_create(&\"0123456789abcdef\"[files++ & 15], 0); ftruncate(p->value, 4096);",
        store: "int *w = (int *)mmap(0, 4096, 3, MAP_SHARED, p->value, 0); *(volatile int *)w = v; munmap(w, 4096);",
        ..KEPT
    },
    Access {
        name: "socket-option",
        offset: 1,
        fresh: "p->value = socket(AF_UNIX, SOCK_STREAM, 0);",
        load: "int w = 0; socklen_t size = sizeof w; getsockopt(p->value, SOL_SOCKET, SO_RCVLOWAT, &w, &size); return w;",
        store: "assert(!setsockopt(p->value, SOL_SOCKET, SO_RCVLOWAT, &v, sizeof v));",
        ..KEPT
    },
    Access {
        name: "epoll",
        most_rounds: 1,
        fresh: "p->zero = eventfd(1, 0); p->value = epoll_create1(0);\n    \
                struct epoll_event is = {EPOLLIN}; epoll_ctl(p->value, EPOLL_CTL_ADD, p->zero, &is);",
        load: "struct epoll_event is; assert(epoll_wait(p->value, &is, 1, 0) == 1); return is.data.u32;",
        store: "struct epoll_event is = {EPOLLIN}; is.data.u32 = v; assert(!epoll_ctl(p->value, EPOLL_CTL_MOD, p->zero, &is));",
        ..KEPT
    },
    Access {
        name: "resource-limit",
        load: "struct rlimit is; getrlimit(p->value ? RLIMIT_RSS : RLIMIT_CORE, &is); return is.rlim_cur;",
        store: "struct rlimit is = {(rlim_t)v, RLIM_INFINITY};\n    \
                struct rlimit was; getrlimit(p->value ? RLIMIT_RSS : RLIMIT_CORE, &was); is.rlim_max = was.rlim_max;\n    \
                assert(!setrlimit(p->value ? RLIMIT_RSS : RLIMIT_CORE, &is));",
        ..ONE_OF_TWO
    },
    Access {
        name: "disposition",
        load: "struct sigaction is; sigaction(SIGRTMIN + p->value, 0, &is); return (int)(long)is.sa_handler - 2;",
        store: "struct sigaction is; memset(&is, 0, sizeof is); is.sa_handler = (void (*)(int))(long)(v + 2);\n    \
                sigaction(SIGRTMIN + p->value, &is, 0);",
        ..ONE_OF_TWO
    },
    Access {
        name: "environment",
        load: "return atoi(getenv(p->value ? \"CELL_1\" : \"CELL_0\"));",
        store: "char w[9]; snprintf(w, sizeof w, \"%d\", v); setenv(p->value ? \"CELL_1\" : \"CELL_0\", w, 1);",
        ..ONE_OF_TWO
    },
];
