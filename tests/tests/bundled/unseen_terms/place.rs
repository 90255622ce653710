//! Places of cells, as C text.

/// A place of cells.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) name: &'static str,
    /// Whether it is C++.
    pub(super) is_cpp: bool,
    /// Whether the tool is able to watch it, so that claims are to be made.
    pub(super) is_claimable: bool,
    /// At file scope.
    pub(super) declarations: &'static str,
    /// In `main`: defines `origin`.
    pub(super) origin: &'static str,
    /// Returns the address of the cell `k` for the thread `who`.
    pub(super) place: &'static str,
}

const GLOBALS: Place = Place {
    name: "globals",
    is_cpp: false,
    is_claimable: true,
    declarations: "static cell_t cells[2];",
    origin: "cell_t *origin = cells;",
    place: "return origin + k;",
};

/// Variables of the C library, which nothing else uses.
pub(super) const LIBRARY: Place = Place {
    name: "library",
    declarations: "",
    origin: "cell_t *origin = (cell_t *)&optind;",
    place: "return k ? (cell_t *)&optopt : origin;",
    ..GLOBALS
};

pub(super) const PLACES: [Place; 13] = [
    GLOBALS,
    Place {
        name: "apart",
        declarations: "static cell_t cell_0, between[300], cell_1;",
        origin: "cell_t *origin = between;",
        place: "return k ? &cell_1 : &cell_0;",
        ..GLOBALS
    },
    Place {
        name: "heap",
        declarations: "",
        origin: "cell_t *origin = (cell_t *)calloc(2, sizeof(cell_t));",
        ..GLOBALS
    },
    Place {
        name: "thread-local",
        declarations: "static __thread cell_t cells[2];",
        origin: "cell_t *origin = cells;",
        ..GLOBALS
    },
    Place {
        name: "stack",
        declarations: "",
        origin: "cell_t local[2]; memset(local, 0, sizeof local); cell_t *origin = local;",
        ..GLOBALS
    },
    Place {
        name: "mapping",
        declarations: "",
        origin: "cell_t *origin = (cell_t *)mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);",
        ..GLOBALS
    },
    Place {
        name: "low-mapping",
        declarations: "",
        origin: "cell_t *origin = (cell_t *)mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);",
        ..GLOBALS
    },
    Place {
        name: "shared-mapping",
        declarations: "",
        origin: "cell_t *origin = (cell_t *)mmap(0, 4096, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);",
        ..GLOBALS
    },
    Place {
        name: "file-mapping",
        declarations: "",
        origin: "int file = memfd_create(\"cells\", 0); ftruncate(file, 4096);\n    \
                 cell_t *origin = (cell_t *)mmap(0, 4096, 3, MAP_SHARED, file, 0);",
        ..GLOBALS
    },
    Place { name: "break", declarations: "", origin: "cell_t *origin = (cell_t *)sbrk(4096);", ..GLOBALS },
    LIBRARY,
    Place {
        name: "list",
        declarations: "struct link { struct link *next; cell_t cell; };",
        origin: "struct link links[2] = {{links + 1}, {links}}; cell_t *origin = &links[0].cell;",
        place: "struct link *link = (struct link *)((char *)origin - offsetof(struct link, cell));\n    \
                return k ? &link->next->cell : origin;",
        ..GLOBALS
    },
    Place {
        name: "slices",
        declarations: "static struct { T first[4]; cell_t cells[2]; } slices;",
        origin: "cell_t *origin = (cell_t *)&slices;",
        place: "return (cell_t *)((char *)origin + 4 * sizeof(T)) + k;",
        ..GLOBALS
    },
];

/// A file that is mapped twice: threads with an odd number use the second mapping.
pub(super) const TWICE: Place = Place {
    name: "twice",
    is_claimable: false,
    declarations: "static cell_t *twin;",
    origin: "int file = memfd_create(\"twice\", 0); ftruncate(file, 4096);\n    \
             cell_t *origin = (cell_t *)mmap(0, 4096, 3, MAP_SHARED, file, 0);\n    \
             twin = (cell_t *)mmap(0, 4096, 3, MAP_SHARED, file, 0);",
    place: "return (who & 1 ? twin : origin) + k;",
    ..GLOBALS
};

/// Containers of C++, in which threads look cells up that are there.
pub(super) const CONTAINERS: [Place; 5] = [
    Place {
        name: "map",
        is_cpp: true,
        declarations: "#include <map>\nstatic std::map<int, cell_t> all;",
        origin: "cell_t *origin = 0; for (int i = 0; i < 5; i++) all[i - 2].value = 0;",
        place: "return &all.find(k)->second;",
        ..GLOBALS
    },
    Place {
        name: "map-at",
        is_cpp: true,
        declarations: "#include <map>\n#include <string>\nstatic std::map<std::string, cell_t> all;",
        origin: "cell_t *origin = 0; all[\"0\"].value = all[\"1\"].value = 0;",
        place: "return &all.at(std::string(1, (char)('0' + k)));",
        ..GLOBALS
    },
    Place {
        name: "unordered-map",
        is_cpp: true,
        declarations: "#include <unordered_map>\nstatic std::unordered_map<long, cell_t> all;",
        origin: "cell_t *origin = 0; for (int i = 0; i < 5; i++) all[i - 2].value = 0;",
        place: "return &all[k];",
        ..GLOBALS
    },
    Place {
        name: "vector",
        is_cpp: true,
        declarations: "#include <vector>\n#include <memory>\n\
                       static std::vector<std::unique_ptr<cell_t>> all;",
        origin: "cell_t *origin = 0; for (int i = 0; i < 2; i++) all.emplace_back(new cell_t());",
        place: "return all.at(k).get();",
        ..GLOBALS
    },
    Place {
        name: "deque",
        is_cpp: true,
        declarations: "#include <deque>\nstatic std::deque<cell_t> all;",
        origin: "cell_t *origin = 0; all.resize(2);",
        place: "return &all[k];",
        ..GLOBALS
    },
];
