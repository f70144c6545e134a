/* The cluster's functions on a PULP system on chip: event unit, mchan DMA, output and exit through its registers. */
#include "harness.h"

#if __has_include("tilewright_cluster.h")
#include "tilewright_cluster.h"
#define TW_TILED
#endif

#define TW_CORES 8
#define TW_REGISTER(address) (*(volatile uint32_t *)(address))
#define TW_STDOUT 0x1A10F000u
#define TW_EXIT 0x1A1040A0u
#define TW_EVENT_UNIT 0x00204000u
#define TW_BARRIER (TW_EVENT_UNIT + 0x200u + 0x1Cu) /* arrive, sleep, clear the event */
#define TW_DMA TW_REGISTER(0x00204400u)
#define TW_DMA_STATUS TW_REGISTER(0x00204404u)
#define TW_DMA_LARGEST 0x1FFF0u
#define TW_L1 0x10000000u
#define TW_L1_LARGEST 0x40000u
enum { TW_ROWS = 12, TW_PARTS = 8 }; /* of a list of copies: rows beside the core at once, parts that are brought there */
enum { TW_DMA_LOAD = 1 << 17, TW_DMA_INCREMENT = 1 << 18, TW_DMA_2D = 1 << 19 };

void tw_core_main(int core);
void tw_soc_trap(uint32_t pc);

struct tw_job {
    void (*function)(const void *work, int core, int cores);
    const void *work;
};

extern volatile struct tw_job __shared; /* beside the stacks of the cores */

static void tw_barrier(void)
{
    uint32_t woken;
    __asm__ volatile(".insn i 0x03, 6, %0, 0(%1)" : "=r"(woken) : "r"(TW_BARRIER) : "memory"); /* p.elw */
    (void)woken;
}

void tw_core_main(int core)
{
    for (;;) {
        tw_barrier();
        __shared.function(__shared.work, core, TW_CORES);
        tw_barrier();
    }
}

static uint32_t tw_hart(void)
{
    uint32_t hart;
    __asm__(".option push\n.option arch, +zicsr\ncsrr %0, mhartid\n.option pop" : "=r"(hart));
    return hart;
}

void tw_print(const char *text)
{
    const uint32_t hart = tw_hart();
    while (*text != '\0') {
        TW_REGISTER(TW_STDOUT + ((hart >> 5) << 7) + ((hart & 31u) << 3)) = (uint8_t)*text++;
    }
}

uint32_t tw_clock(void)
{
    uint32_t count;
    __asm__ volatile(".option push\n.option arch, +zicsr\ncsrr %0, mcycle\n.option pop" : "=r"(count)::"memory");
    return count;
}

enum { TW_LAYER, TW_KERNEL, TW_COPY, TW_WAIT, TW_RECORDS = 4096 };

#ifdef TW_TRACED
/* What took how long: profile.bin holds (u32 plan instruction * 8 + kind, u32 first cycle, u32 cycles) in the order in
 * which they end. The clock of the records stands still while one is written. */
struct tw_record {
    uint32_t what, first, cycles;
};

static struct tw_record tw_records[TW_RECORDS];
static uint32_t tw_recorded;
static uint32_t tw_layer_first;
static uint32_t tw_stood;
static int tw_profiled;

static uint32_t tw_now(void) { return tw_clock() - tw_stood; }

static void tw_keep(uint32_t kind, uint32_t first)
{
    const uint32_t end = tw_now();
    if (tw_profiled && tw_recorded < TW_RECORDS) {
        struct tw_record *record = &tw_records[tw_recorded++];
        record->what = (uint32_t)tw_layer * 8u + kind;
        record->first = first;
        record->cycles = end - first;
    }
    tw_stood += tw_now() - end;
}

void tw_mark(int instruction, int phase)
{
    (void)instruction;
    if (phase == 0) {
        tw_profiled = 1;
        tw_layer_first = tw_now();
    } else {
        tw_keep(TW_LAYER, tw_layer_first);
    }
}

static void tw_write_profile(void)
{
    if (tw_recorded != 0u) {
        const tw_file file = tw_open("profile.bin", 1);
        (void)tw_write(file, tw_records, (uint32_t)(tw_recorded * sizeof tw_records[0]));
        tw_close(file);
    }
}
#else
static uint32_t tw_now(void) { return 0; }

static void tw_keep(uint32_t kind, uint32_t first)
{
    (void)kind;
    (void)first;
}

void tw_mark(int instruction, int phase)
{
    (void)instruction;
    (void)phase;
}

static void tw_write_profile(void) {}
#endif

void tw_exit(int status)
{
    tw_write_profile();
    for (;;) {
        TW_REGISTER(TW_EXIT) = 0x80000000u | (uint32_t)status;
    }
}

/* The core does not tell why it trapped. */
void tw_soc_trap(uint32_t pc) { tw_fault("other", pc, 0); }

#ifdef TW_TILED
static uint32_t tw_begun;

__attribute__((used)) static void tw_begin(void (*function)(const void *work, int core, int cores), const void *work)
{
    tw_begun = tw_now();
    __shared.function = function;
    __shared.work = work;
    tw_barrier();
}

__attribute__((used)) static void tw_end(void)
{
    tw_barrier();
    tw_keep(TW_KERNEL, tw_begun);
}

__attribute__((used)) static void tw_meet(void)
{
    const int drives = (tw_hart() & 31u) == TW_CORES;
    tw_barrier();
    if (drives) {
        tw_keep(TW_KERNEL, tw_begun);
        tw_begun = tw_now();
    }
}

static void tw_command(const tilewright_copy *copy, uint32_t near, uint32_t far)
{
    const uint32_t direction = TW_DMA_INCREMENT | (copy->store != 0u ? 0u : TW_DMA_LOAD);
    uint32_t left = copy->bytes * copy->runs;
    if (copy->runs == 1u || copy->stride == copy->bytes) {
        while (left != 0u) {
            const uint32_t now = left < TW_DMA_LARGEST ? left : TW_DMA_LARGEST;
            TW_DMA = now | direction;
            TW_DMA = near;
            TW_DMA = far;
            near += now;
            far += now;
            left -= now;
        }
        return;
    }
    while (left != 0u) {
        const uint32_t runs = left <= TW_DMA_LARGEST ? left / copy->bytes : TW_DMA_LARGEST / copy->bytes;
        const uint32_t now = runs * copy->bytes;
        TW_DMA = now | direction | TW_DMA_2D;
        TW_DMA = near;
        TW_DMA = far;
        TW_DMA = copy->bytes;
        TW_DMA = copy->stride;
        near += now;
        far += runs * copy->stride;
        left -= now;
    }
}

/* Rows of a list, brought beside the core by the DMA itself: from L2 the core takes 15 cycles for each of their words. They stay
 * where they are if its stack lies in L2 too, or they in L1. */
static const tilewright_copy *tw_brought(const tilewright_copy *rows, int many, tilewright_copy *near)
{
    uint32_t bit;
    if (many < 3 || (uint32_t)(uintptr_t)near - TW_L1 >= TW_L1_LARGEST || (uint32_t)(uintptr_t)rows - TW_L1 < TW_L1_LARGEST) {
        return rows;
    }
    bit = 1u << TW_DMA;
    TW_DMA = (uint32_t)many * (uint32_t)sizeof *rows | TW_DMA_INCREMENT | TW_DMA_LOAD;
    TW_DMA = (uint32_t)(uintptr_t)near;
    TW_DMA = (uint32_t)(uintptr_t)rows;
    while ((TW_DMA_STATUS & bit) != 0u) {
    }
    TW_DMA_STATUS = bit;
    __asm__ volatile("" ::: "memory");
    return near;
}

/* Copies run under the id that was given out last. A list is brought in parts, each under an id of its own: what is waited
 * for are their bits. */
__attribute__((used)) static tilewright_future tw_start(const tilewright_copy *copies, int first, int end,
                                                        unsigned char *fast, unsigned char *const *home)
{
    const uint32_t started = tw_now();
    tilewright_copy near[TW_ROWS];
    uint32_t bits = 0;
    int at, parts;
    if (first == end) {
        return 0;
    }
    for (at = first, parts = 0; at < end; parts++) {
        const int left = end - at, many = left < TW_ROWS || parts == TW_PARTS ? left : TW_ROWS;
        const tilewright_copy *copy = parts == TW_PARTS ? copies + at : tw_brought(copies + at, many, near), *const last = copy + many;
        bits |= 1u << TW_DMA;
        for (; copy < last; copy++) {
            tw_command(copy, (uint32_t)(uintptr_t)fast + copy->near, (uint32_t)(uintptr_t)home[copy->operand] + copy->far);
        }
        at += many;
    }
    tw_keep(TW_COPY, started);
    return (tilewright_future)bits;
}

__attribute__((used)) static void tw_wait(tilewright_future future)
{
    if (future != 0) {
        const uint32_t first = tw_now(), bits = (uint32_t)future;
        while ((TW_DMA_STATUS & bits) != 0u) {
        }
        TW_DMA_STATUS = bits;
        tw_keep(TW_WAIT, first);
    }
}

/* Under names that say whose code it is: what drives the hardware is no layer's. */
void tilewright_begin(void (*function)(const void *work, int core, int cores), const void *work)
    __attribute__((alias("tw_begin")));
void tilewright_end(void) __attribute__((alias("tw_end")));
void tilewright_barrier(void) __attribute__((alias("tw_meet")));
tilewright_future tilewright_start(const tilewright_copy *copies, int first, int end, unsigned char *fast,
                                   unsigned char *const *home) __attribute__((alias("tw_start")));
void tilewright_wait(tilewright_future future) __attribute__((alias("tw_wait")));
#endif
