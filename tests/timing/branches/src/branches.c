/* Each part branches on a byte of its own, so that the longest ways of all can be taken at once, and the shortest. */
#include "branches.h"

static union {
    uint8_t bytes[BRANCHES_ARENA_BYTES];
    uint32_t words[BRANCHES_ARENA_BYTES / 4];
} arena;
static volatile uint32_t *const work = &arena.words[4];
#define WRITES work[0] = 3; work[1] = 4; work[2] = work[1] * 3; work[3] = work[2] + 5

uint8_t *branches_input_0(void) { return arena.bytes; }
const uint32_t *branches_output_0(void) { return &arena.words[2]; }

__attribute__((noinline)) static uint32_t spin(uint32_t turns)
{
    uint32_t n, sum = 0;
    for (n = 0; n < turns; n++) {
        work[0] = n;
        sum += work[0] * turns;
    }
    return sum;
}

/* Both ways write a different number of turns; what comes behind must know both. */
__attribute__((noinline)) static uint32_t joined(uint32_t x)
{
    uint32_t sum = 0;
    if (x & 1) {
        work[1] = 4;
    } else {
        work[1] = 6;
    }
    if (work[1] == 4) {
        work[0] = 2;
    } else {
        WRITES;
        sum = work[2];
    }
    return sum;
}

/* Only one way writes: the other one leaves what was there. */
__attribute__((noinline)) static uint32_t left_alone(uint32_t x)
{
    work[2] = 3;
    if (x > 200) {
        work[2] = 8;
    }
    if (work[2] == 3) {
        WRITES;
        return work[1];
    }
    return 1;
}

/* The same where the way that writes lies behind the function. */
__attribute__((noinline)) static uint32_t left_alone_mostly(uint32_t x)
{
    work[2] = 3;
    if (__builtin_expect(x > 200, 0)) {
        work[2] = 8;
    }
    if (work[2] == 3) {
        WRITES;
        WRITES;
        return work[1];
    }
    return 1;
}

/* Both ways read what was there before either of them wrote. */
__attribute__((noinline)) static uint32_t each_from_the_start(uint32_t x)
{
    work[2] = 3;
    if (x & 2) {
        if (work[2] == 3) {
            WRITES;
        }
        work[2] = 8;
        return 1;
    }
    if (work[2] == 3) {
        WRITES;
        WRITES;
        WRITES;
    }
    work[2] = 9;
    return 2;
}

/* The end of the loop depends on data, but not its most turns. */
__attribute__((noinline)) static uint32_t left_early(const uint8_t *x)
{
    uint32_t n;
    for (n = 0; n < 4; n++) {
        if (x[n] == 7) {
            return n;
        }
        work[3] = n;
    }
    return 100;
}

/* A compiler must keep what no input reaches, since the number that it asks of is volatile. */
__attribute__((noinline)) static uint32_t never(uint32_t x)
{
    work[3] = 5;
    if (work[3] == 6) {
        work[0] = x * 7;
        return x + work[0];
    }
    return x;
}

/* A table of jumps. */
__attribute__((noinline)) static uint32_t chosen(uint32_t x)
{
    switch (x & 7) {
    case 0: work[0] = 1; return 5;
    case 1: work[3] = 1; work[2] = 3; return work[1] ^ 2;
    case 2: work[3] = 9; return 3;
    case 3: work[2] = work[1] * 3 + 7; return 77;
    case 4: work[1] = work[0] * 3; work[1] = work[0] * 5; work[2] = work[1]; return work[2] + 1;
    case 5: work[1] = work[2] + 4; return work[1];
    default: return 6;
    }
}

#if defined(FAULT_STORE)
#define FAULT work[arena.bytes[0] & 3] = 1
#elif defined(FAULT_LOOP)
#define FAULT while ((arena.bytes[0] * arena.bytes[1] ^ work[0]) != 5) work[0] += work[0] ^ 3
#elif defined(FAULT_RECURSION)
__attribute__((noinline)) static uint32_t deep(uint32_t n) { work[3] = n; return n == 0 ? 1 : deep(n - 1) + work[3]; }
#define FAULT work[0] = deep(arena.bytes[0])
#elif defined(FAULT_INSTRUCTION)
#if defined(__arm__)
#define FAULT __asm volatile("svc 3")
#else
#define FAULT __asm volatile("ebreak")
#endif
#else
#define FAULT (void)0
#endif

/* A product of floats alone, if asked for: the longest way of its routine is that of numbers that are not normal. */
int branches_run(void)
{
#if defined(FLOATS)
    volatile float *const floats = (volatile float *)arena.words;
    floats[2] = floats[0] * floats[1];
    return 0;
#endif
    uint32_t sum = spin(14) + joined(arena.bytes[0]);
    sum += left_alone(arena.bytes[1]);
    sum += left_early(&arena.bytes[2]);
    sum += each_from_the_start(arena.bytes[0]);
    sum += left_alone_mostly(arena.bytes[7]);
    sum += chosen(arena.bytes[6]);
    sum += never(arena.bytes[1]);
    FAULT;
    arena.words[2] = sum;
    return 0;
}
