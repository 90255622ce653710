//! The program of a term in its dress: C, or C++ where its place is.
//!
//! With one argument it fails if its outcome is that; with more, if its outcome is none of those after the first.

use std::fmt::Write;

use super::dress::{Dress, Form, Handing, Own, Part, WarmUp};
use super::term::{Deed, Step, Term};

const HEADERS: &str = "#define _GNU_SOURCE 1
#include <assert.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <search.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
";

const JOB: &str = "typedef struct { T value; T zero; } cell_t;
struct job { int who, in, out; int *seen; cell_t *origin; cell_t *cells[2]; cell_t own[2]; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cell_t *shared[4][2];
static pthread_key_t key;
";

/// Accesses by way of a function that calls back.
const CALL: &str = "static __thread volatile struct { struct job *me; cell_t *p; int v, kind; } call;
static void act(void)
{
    if (call.kind == 0)
        call.v = get(call.me, call.p);
    else if (call.kind == 1)
        put(call.me, call.p, call.v);
    else
        add(call.me, call.p, call.v);
}
static int compare(const void *left, const void *right) { act(); return 0; }
static void handle(int number) { act(); }
static void via(void)
{
    int two[2] = {1, 2};
    size_t count = 1;
    VIA;
}
static int get_by(struct job *me, cell_t *p)
{
    call.me = me; call.p = p; call.kind = 0;
    via();
    return call.v;
}
static void put_by(struct job *me, cell_t *p, int v)
{
    call.me = me; call.p = p; call.v = v; call.kind = 1;
    via();
}
static void add_by(struct job *me, cell_t *p, int v)
{
    call.me = me; call.p = p; call.v = v; call.kind = 2;
    via();
}
";

const POINTERS: &str = "static int (*volatile get_by)(struct job *, cell_t *) = get;
static void (*volatile put_by)(struct job *, cell_t *, int) = put;
static void (*volatile add_by)(struct job *, cell_t *, int) = add;
";

/// The text of the program.
pub(super) fn source(term: &Term, dress: &Dress) -> String {
    let mut text = HEADERS.to_owned();
    let access = &dress.access;
    let _ = write!(
        text,
        "typedef {} T;\n{JOB}{}\n{}\n",
        access.cell, access.declarations, dress.place.declarations
    );
    let form = match dress.form {
        Form::Inline => "static inline __attribute__((always_inline))",
        _ => "static __attribute__((noinline))",
    };
    let _ = write!(
        text,
        "static void fresh(cell_t *p)\n{{\n    {}\n}}\n\
         static cell_t *place(cell_t *origin, int who, int k)\n{{\n    {}\n}}\n\
         {form} int get(struct job *me, cell_t *p)\n{{\n    {}\n}}\n\
         {form} void put(struct job *me, cell_t *p, int v)\n{{\n    {}\n}}\n\
         {form} void add(struct job *me, cell_t *p, int v)\n{{\n    {}\n}}\n",
        access.fresh, dress.place.place, access.load, access.store, access.add
    );
    let via = match dress.form {
        Form::Inline | Form::Function | Form::Pointer => "",
        Form::Qsort => "qsort(two, 2, sizeof *two, compare)",
        Form::Bsearch => "bsearch(two, two, 1, sizeof *two, compare)",
        Form::Lfind => "lfind(two, two, &count, sizeof *two, compare)",
        Form::Handler => "raise(SIGUSR1)",
    };
    let by = match dress.form {
        Form::Inline | Form::Function => "",
        Form::Pointer => {
            text.push_str(POINTERS);
            "_by"
        }
        _ => {
            text.push_str(&CALL.replace("VIA", via));
            "_by"
        }
    };
    let cell = match dress.handing {
        Handing::Job | Handing::Value => "me->cells[k]",
        Handing::Global => "shared[me->who][k]",
        Handing::Lookup => "place(me->origin, me->who, k)",
    };
    let offset = access.offset;
    let _ = write!(
        text,
        "#define GET(p) (get{by}(me, (p)) - {offset})\n#define PUT(p, v) put{by}(me, (p), (v) + {offset})\n\
         #define ADD(p, v) add{by}(me, (p), (v))\n#define CELL(k) ({cell})\n#define KEEP(v) asm volatile(\"\" : \"+r\"(v))\n"
    );
    for (number, steps) in term.threads.iter().enumerate() {
        thread(&mut text, number, steps, dress);
        start(&mut text, number, dress.part);
    }
    if dress.part == Part::Destructor {
        let bodies: Vec<String> = (0..term.threads.len()).map(|number| format!("thread_{number}")).collect();
        let _ = write!(
            text,
            "static void *(*const bodies[])(void *) = {{{}}};\n\
             static void end(void *argument) {{ bodies[((struct job *)argument)->who](argument); }}\n",
            bodies.join(", ")
        );
    }
    main(&mut text, term, dress);
    text
}

/// The function of a thread.
fn thread(text: &mut String, number: usize, steps: &[Step], dress: &Dress) {
    let _ = match dress.handing {
        Handing::Value => write!(
            text,
            "static __attribute__((noinline)) void body_{number}(struct job job)\n{{\n    struct job *me = &job;\n"
        ),
        _ => write!(
            text,
            "static void *thread_{number}(void *argument)\n{{\n    struct job *me = (struct job *)argument;\n"
        ),
    };
    text.push_str(match dress.own {
        Own::Job => "    cell_t *own = me->own;\n",
        Own::Stack => "    cell_t local[2] = {me->own[0], me->own[1]}, *own = local;\n",
        Own::Heap => {
            "    cell_t *own = (cell_t *)calloc(2, sizeof *own);\n    own[0] = me->own[0], own[1] = me->own[1];\n"
        }
    });
    let is_warm = dress.warm >> number & 1 == 1;
    let last = steps.len() - 1;
    let mut results = 0;
    for (place, step) in steps.iter().enumerate() {
        if let WarmUp::Before(rounds, before) = dress.warm_up
            && is_warm
            && place == before.min(last)
        {
            let _ = writeln!(text, "    for (int i = 0; i < {rounds}; i++) {{");
            warm(text, step.deed, dress);
            text.push_str("    }\n");
        }
        if step.is_locked {
            text.push_str("    pthread_mutex_lock(&lock);\n");
        }
        let rounds = match dress.warm_up {
            WarmUp::Around(rounds) if is_warm => rounds,
            _ => 0,
        };
        let _ = match rounds {
            0 => writeln!(text, "    {{ cell_t *p = CELL({}); int i = 0;", step.cell),
            _ => writeln!(
                text,
                "    for (int i = {rounds}; i >= 0; i--) {{\n        cell_t *p = i ? own + (i & 1) : CELL({});",
                step.cell
            ),
        };
        match step.deed {
            Deed::Change { factor: 1, more } if !dress.access.add.is_empty() => {
                let _ = writeln!(text, "        ADD(p, i ? 0 : {more});");
            }
            Deed::Change { factor, more } => {
                let _ = writeln!(
                    text,
                    "        int v = GET(p); KEEP(v); v = i ? (v + 1) % 90 : v * {factor} + {more}; KEEP(v); PUT(p, v);"
                );
            }
            Deed::Store(value) => {
                let _ = writeln!(text, "        PUT(p, {value});");
            }
            Deed::Load => {
                let _ = writeln!(text, "        me->seen[{results}] = GET(p);");
                results += 1;
            }
        }
        text.push_str("    }\n");
        if step.is_locked {
            text.push_str("    pthread_mutex_unlock(&lock);\n");
        }
    }
    let _ = match dress.handing {
        Handing::Value => write!(
            text,
            "}}\nstatic void *thread_{number}(void *argument)\n{{\n    body_{number}(*(struct job *)argument);\n    return 0;\n}}\n"
        ),
        _ => write!(text, "    return 0;\n}}\n"),
    };
}

/// The function that a thread starts with.
fn start(text: &mut String, number: usize, part: Part) {
    let deeds = match part {
        Part::Body => format!("thread_{number}(argument);"),
        Part::Destructor => "pthread_setspecific(key, argument);".to_owned(),
        Part::Cleanup => format!(
            "pthread_cleanup_push((void (*)(void *))thread_{number}, argument);\n    pthread_exit(0);\n    \
             pthread_cleanup_pop(0);"
        ),
        Part::Nested => format!(
            "pthread_t inner; pthread_create(&inner, 0, thread_{number}, argument); pthread_join(inner, 0);"
        ),
    };
    let _ = write!(text, "static void *start_{number}(void *argument)\n{{\n    {deeds}\n    return 0;\n}}\n");
}

/// A round on private memory, of the kind that the deed is.
fn warm(text: &mut String, deed: Deed, dress: &Dress) {
    text.push_str(match deed {
        Deed::Change { factor: 1, .. } if !dress.access.add.is_empty() => "        ADD(own, 0);\n",
        Deed::Load => "        GET(own + (i & 1));\n",
        Deed::Store(_) => "        PUT(own + (i & 1), i % 90);\n",
        Deed::Change { .. } => "        int v = GET(own); PUT(own, (v + 1) % 90);\n",
    });
}

/// Makes the cells and the threads, and looks at the outcome.
fn main(text: &mut String, term: &Term, dress: &Dress) {
    let count = term.threads.len();
    let _ = write!(text, "int main(int count, char **words)\n{{\n    {}\n", dress.place.origin);
    if dress.form == Form::Handler {
        text.push_str("    signal(SIGUSR1, handle);\n");
    }
    text.push_str(if dress.is_forked {
        "    int *seen = (int *)mmap(0, 4096, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);\n"
    } else {
        "    int seen[16];\n"
    });
    let _ = write!(
        text,
        "    struct job jobs[{all}];\n    memset(jobs, 0, sizeof jobs);\n    for (int i = 0; i < {all}; i++) {{\n        \
         struct job *me = jobs + i;\n        me->who = i; me->seen = seen + 4 * i; me->origin = origin;\n        \
         for (int k = 0; k < 2; k++)\n            me->cells[k] = shared[i][k] = place(origin, i, k);\n        {}\n        \
         for (int k = 0; k < 2; k++) {{\n            fresh(me->own + k);\n            PUT(me->own + k, 0);\n        }}\n    }}\n    \
         struct job *me = jobs + {count};\n",
        dress.access.prepare,
        all = count + 1,
    );
    for (cell, value) in term.cells.iter().enumerate() {
        let _ = writeln!(text, "    fresh(me->cells[{cell}]); PUT(me->cells[{cell}], {value});");
    }
    if dress.part == Part::Destructor {
        text.push_str("    pthread_key_create(&key, end);\n");
    }
    let made = count - usize::from(dress.takes_part);
    let _ = writeln!(text, "    {} threads[{count}];", if dress.is_forked { "pid_t" } else { "pthread_t" });
    for thread in 0..made {
        let _ = if dress.is_forked {
            writeln!(
                text,
                "    if (!(threads[{thread}] = fork())) {{ thread_{thread}(jobs + {thread}); _exit(0); }}"
            )
        } else {
            writeln!(text, "    pthread_create(&threads[{thread}], 0, start_{thread}, jobs + {thread});")
        };
    }
    for thread in made..count {
        let _ = writeln!(text, "    thread_{thread}(jobs + {thread});");
    }
    let join = if dress.is_forked { "waitpid(threads[i], 0, 0)" } else { "pthread_join(threads[i], 0)" };
    let _ = writeln!(text, "    for (int i = 0; i < {made}; i++)\n        {join};");
    text.push_str("    char outcome[64];\n    int length = 0;\n");
    for cell in 0..term.cells.len() {
        let _ =
            writeln!(text, "    length += snprintf(outcome + length, 9, \".%d\", GET(me->cells[{cell}]));");
    }
    for (thread, steps) in term.threads.iter().enumerate() {
        let results = steps.iter().filter(|step| step.deed == Deed::Load).count();
        for result in 0..results {
            let _ = writeln!(
                text,
                "    length += snprintf(outcome + length, 9, \".%d\", seen[{}]);",
                4 * thread + result
            );
        }
    }
    text.push_str(
        "    int known = 0;\n    for (int i = 1; i < count; i++)\n        known |= !strcmp(words[i], outcome + 1);\n    \
         if (count == 2 ? known : !known) {\n        fprintf(stderr, \"%s\\n\", outcome + 1);\n        abort();\n    }\n    return 0;\n}\n",
    );
}
