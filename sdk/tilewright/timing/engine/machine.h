/* The abstract machine: what it holds, and what it answers. Part of machine.c; timing/machine.py and stream.py know the same layout. */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    REGISTERS = 8192, /* bytes of registers, what lives inside of one instruction among them */
    SEGMENTS = 16,
    CALLS = 64,       /* functions inside one another */
    NESTED = 200,     /* regions inside one another */
    WAITING = 4096,   /* states of one region that wait */
    APART = 64,       /* of them at one place whose registers differ */
    TRAIL = 48,       /* forks that are remembered of a way */
    FORKS = 1000000,  /* in one region */
    WAYS = 64,        /* targets of one computed jump */
    TABLE_BITS = 6,
    INDICES = 4,
    LOOPS = 8192,
    SUMMARIES = 256,
    LAYERS = 4100,
    BITS = 32,        /* of a float; of a double twice as many: it has at most so many turns of a loop that shifts it */
    WITHIN = 1000000000, /* instructions inside of one fork */
    CONSTANT = 0x80   /* in a size: the operand is the number itself */
};

/* Operations that p-code does not have. */
enum {
    INSTRUCTION = 200, /* a: address, b: end, out: cycles, aux: 1 where it is counted */
    NODE,              /* a place inside of an instruction where ways meet */
    GOTO,              /* aux: target */
    LOOP,              /* out: number of the loop, aux: 1 where it is entered, 0 where it turns */
    SUMMARY,           /* a call: a, b, out and loop as for CALL; size: words of arguments, a_size: number */
    MARK,              /* a call of the trace function, which is not counted */
    SIGNED_SATURATE,
    UNSIGNED_SATURATE,
    UNKNOWN,
    REFUSED            /* an instruction that is not modelled */
};

enum status {
    DONE,
    PAUSED,
    NEEDS_CODE,
    UNKNOWN_STORE,
    STORE_TO_CONSTANT,
    UNKNOWN_JUMP,
    UNKNOWN_CALL,
    UNKNOWN_RETURN,
    RECURSION,
    NO_END,
    ARMS_APART,
    NOT_MODELLED,
    NO_MEMORY
};

/* Sizes in bytes; a, b: offsets of registers, or numbers. A branch: a or out: target. `point`: of a branch, and of an
 * instruction or a node where several ways come in, its number; else 0. */
struct operation {
    uint8_t code, size, a_size, b_size;
    uint32_t out;
    int32_t aux;
    uint32_t point;
    uint64_t a, b;
};

/* A place where ways begin or meet: how far on in its function it lies, the loops around it, the outermost first, and the
 * words of registers that are read behind it. */
struct point {
    uint32_t order, loops, first, words, live;
};

struct cost {
    uint64_t most, least, most_cycles, least_cycles;
};

/* How often a branch went both ways, and by how many instructions they differ: the sum and the most. */
struct fork_count {
    uint64_t times, sum, most;
};

struct layer_cost {
    struct cost before, spent;
    uint64_t runs;
};

/* Memory of which `known` bits are known, none at first; constants have no `known`. `noted`: the epoch in which the
 * journal took a byte last. */
struct segment {
    uint32_t low, high;
    uint8_t *bytes, *known;
    uint32_t *stamp, *place, *noted;
};

/* A byte that was written inside of a fork: what it held, or what it holds where ways join. */
struct byte {
    uint32_t segment, offset;
    uint8_t bits, unknown;
};

struct registers {
    uint8_t bits[REGISTERS], unknown[REGISTERS];
};

/* A state that waits at a place: what a way, or several that met there, left of registers and memory, and cost since
 * the region began. `trail` are the forks of the way, by number, and `forked` their branches. */
struct state {
    struct registers registers;
    uint32_t turns[LOOPS];
    struct byte *bytes;
    size_t count, capacity;
    struct cost cost;
    uint32_t place, follows;
    int depth;
    uint32_t trail[TRAIL], forked[TRAIL];
    int forks;
};

/* What was opened by a branch on data and lasts until a single state is left: states where ways meet, and ways of
 * branches that were not run yet. */
struct region {
    struct state *waiting[WAITING], *begun[WAITING], *spare[2 * WAITING];
    int waiting_count, begun_count, spare_count, depth, fresh;
    size_t begin;
    uint32_t point;
    uint64_t forks;
    uint32_t trail[TRAIL], forked[TRAIL]; /* of the way that runs */
    int trail_count;
    uint32_t ways[WAYS];
    int way_count; /* of the branch at which the way stopped; 0 where it has ended */
};

struct summary {
    int state; /* 0: not asked yet, 1: known, 2: it writes outside of its frame */
    struct cost cost;
};

/* A sum of something known and a number of which few bits are not, perhaps the index of a table: the registers before
 * it, and whether the number is the second operand. */
struct index {
    int valid, second;
    uint32_t at;
    struct value number;
    struct registers before;
};

struct machine {
    const struct operation *operations;
    const struct point *points;
    const uint32_t *chains, *live; /* numbers of loops and places of registers, as points name them */
    const uint32_t *places; /* of the instruction at each half-word of code from `code_low` on */
    uint32_t count, code_low, code_halves; /* `places` also says where code holds data */
    struct registers now, before_fork;
    uint32_t used; /* bytes of registers in use */
    struct segment segments[SEGMENTS];
    int segment_count;
    struct byte *journal;
    size_t journal_count, journal_capacity;
    uint32_t generation, epoch, fork_number;
    uint32_t shifts; /* in a routine of floats: the most turns of a loop, which shifts until a bit is set; else 0 */
    struct region *regions[NESTED];
    int level, depth;
    uint32_t returns[CALLS], entries[CALLS];
    uint32_t turns[LOOPS], most_turns[LOOPS], loop_count;
    struct fork_count *forks;
    struct summary summaries[SUMMARIES];
    const uint32_t *clobbered; /* places of words that a call leaves unknown */
    uint32_t clobbered_count, arguments, stack_pointer, link;
    struct layer_cost layers[LAYERS];
    uint32_t refill, wait, slow_low, slow_high; /* modelled cycles */
    uint32_t follows;
    struct cost cost;
    uint64_t steps, pause, limit;
    uint64_t outside; /* steps when no fork was open */
    uint64_t unknown_loads;
    uint32_t resume, stopped; /* operations: where to go on, where the last way stopped */
    uint32_t address, wanted; /* of the instruction that runs, and of code that is wanted */
    struct index indices[INDICES];
    uint32_t newest;
    uint8_t *reached; /* by half-word of code from `reached_low` on: 1 where an instruction ran on any way */
    uint32_t reached_low, reached_halves;
    uint32_t jumps[2 * 4096], jump_count; /* computed jumps: operation and address of the target */
    jmp_buf out;
};
