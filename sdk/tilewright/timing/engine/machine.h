/* The abstract machine: what it holds, and what it answers. Part of machine.c; timing/machine.py and stream.py know the same layout. */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    REGISTERS = 8192, /* bytes of registers, what lives inside of one instruction among them */
    SEGMENTS = 16,
    CALLS = 64,       /* functions inside one another */
    NESTED = 1000,    /* forks inside one another */
    WAYS = 64,        /* targets of one computed jump */
    TABLE_BITS = 6,
    INDICES = 4,
    LOOPS = 8192,
    SUMMARIES = 256,
    LAYERS = 4100,
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

/* Sizes in bytes; a, b: offsets of registers, or numbers. A branch: a or out: target, aux: where its ways meet,
 * loop: header of the innermost loop around it. */
struct operation {
    uint8_t code, size, a_size, b_size;
    uint32_t out;
    int32_t aux;
    uint32_t loop;
    uint64_t a, b;
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

/* Memory of which `known` bits are known, none at first; constants have no `known`. */
struct segment {
    uint32_t low, high;
    uint8_t *bytes, *known;
    uint32_t *stamp, *place;
};

/* A byte that was written inside of a fork: what it held, or what it holds where ways join. */
struct byte {
    uint32_t segment, offset;
    uint8_t bits, unknown;
};

struct registers {
    uint8_t bits[REGISTERS], unknown[REGISTERS];
};

/* What one fork needs: registers before it and where its ways join, turns of loops, bytes that any way wrote. */
struct frame {
    struct registers before, meeting;
    uint32_t turns_before[LOOPS], turns_meeting[LOOPS];
    struct byte *bytes;
    size_t count, capacity;
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
    const uint32_t *places; /* of the instruction at each half-word of code from `code_low` on */
    uint32_t count, code_low, code_halves; /* `places` also says where code holds data */
    struct registers now;
    uint32_t used; /* bytes of registers in use */
    struct segment segments[SEGMENTS];
    int segment_count;
    struct byte *journal;
    size_t journal_count, journal_capacity;
    uint32_t generation;
    struct frame *frames[NESTED];
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
