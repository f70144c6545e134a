/* The cluster's functions on QEMU's machine virt. Harts wake each other by software interrupts and wait in wfi.
 *
 * A copy is played as late as it may be, at its wait, so that a missing wait computes on bytes that are not there yet;
 * with TW_DMA_EARLY as early as it may be, at its start, so that a buffer that is still read is overwritten. */
#include "harness.h"

#if __has_include("tilewright_cluster.h")
#include "tilewright_cluster.h"
#define TW_TILED
#endif
#ifdef TW_NEUREKA_PLAYED
#include "neureka.h"
#endif

#define TW_CORES 8
#define TW_LISTS 8
#define TW_INTERRUPT ((volatile uint32_t *)0x02000000u)
#define TW_FENCE_MEMORY() __asm__ volatile("fence" ::: "memory")

void tw_core_main(uint32_t hart);
void tw_wait_for_cores(void);
void tw_riscv_trap(uint32_t cause, uint32_t pc, uint32_t address);

struct tw_fault_record {
    uint32_t set, cause, pc, address;
};

struct tw_job {
    void (*function)(const void *work, int core, int cores);
    const void *work;
    uint32_t number;
    uint32_t met;
    uint32_t arrived[TW_CORES];
    uint32_t done[TW_CORES];
    uint32_t ready[TW_CORES];
};

#ifdef TW_TILED
struct tw_list {
    const tilewright_copy *copies;
    int count; /* 0: free */
    unsigned char *fast;
    unsigned char *const *home;
};

static struct tw_list tw_lists[TW_LISTS];
#endif

/* All that the cores may touch beside L1 and their stacks. */
__attribute__((section(".shared"))) volatile struct tw_fault_record tw_core_fault;
__attribute__((section(".shared"))) static volatile struct tw_job tw_job;

static void tw_wait_for_interrupt(void) { __asm__ volatile("wfi" ::: "memory"); }

void tw_core_main(uint32_t hart)
{
    uint32_t seen = 0;
    tw_job.ready[hart - 1u] = 1u;
    for (;;) {
        TW_INTERRUPT[hart] = 0;
        TW_FENCE_MEMORY();
        if (tw_job.number == seen) {
            tw_wait_for_interrupt();
            continue;
        }
        seen = tw_job.number;
        tw_job.function(tw_job.work, (int)hart - 1, TW_CORES);
        TW_FENCE_MEMORY();
        tw_job.done[hart - 1u] = seen;
        TW_FENCE_MEMORY();
        TW_INTERRUPT[0] = 1;
    }
}

/* The program begins when every core has left the machine's own start-up code. */
void tw_wait_for_cores(void)
{
    int core = 0;
    while (core < TW_CORES) {
        core += tw_job.ready[core] != 0u;
    }
}

#ifdef TW_TILED
static void tw_stop_at_faults(void)
{
    if (tw_core_fault.set != 0u) {
        tw_riscv_trap(tw_core_fault.cause, tw_core_fault.pc, tw_core_fault.address);
    }
}

static int tw_cores_done(void)
{
    int core;
    for (core = 0; core < TW_CORES; core++) {
        if (tw_job.done[core] != tw_job.number) {
            return 0;
        }
    }
    return 1;
}

__attribute__((used)) static void tw_begin(void (*function)(const void *work, int core, int cores), const void *work)
{
    uint32_t hart;
    tw_job.function = function;
    tw_job.work = work;
    TW_FENCE_MEMORY();
    tw_job.number = tw_job.number + 1u;
    TW_FENCE_MEMORY();
    for (hart = 1; hart <= TW_CORES; hart++) {
        TW_INTERRUPT[hart] = 1;
    }
}

__attribute__((used)) static void tw_end(void)
{
    for (;;) {
        TW_INTERRUPT[0] = 0;
        TW_FENCE_MEMORY();
        tw_stop_at_faults();
        if (tw_cores_done()) {
            break;
        }
        tw_wait_for_interrupt();
    }
    TW_FENCE_MEMORY();
#ifdef TW_NEUREKA_PLAYED
    tw_event_barrier();
#endif
}

static int tw_all_here(void)
{
    int core;
    for (core = 0; core < TW_CORES; core++) {
        if (tw_job.arrived[core] == tw_job.met) {
            return 0;
        }
    }
    return 1;
}

__attribute__((used)) static void tw_meet(void)
{
    const uint32_t met = tw_job.met;
    uint32_t hart;
    __asm__("csrr %0, mhartid" : "=r"(hart));
    TW_FENCE_MEMORY();
    if (hart != 0u) {
        tw_job.arrived[hart - 1u] = met + 1u;
        TW_FENCE_MEMORY();
        TW_INTERRUPT[0] = 1;
    }
    for (;;) {
        TW_INTERRUPT[hart] = 0;
        TW_FENCE_MEMORY();
        if (hart != 0u ? tw_job.met != met : tw_all_here()) {
            break;
        }
        if (hart == 0u) {
            tw_stop_at_faults();
        }
        tw_wait_for_interrupt();
    }
    if (hart == 0u) {
        tw_job.met = met + 1u;
        TW_FENCE_MEMORY();
        for (hart = 1; hart <= TW_CORES; hart++) {
            TW_INTERRUPT[hart] = 1;
        }
    }
    TW_FENCE_MEMORY();
}

/* Words where both ends allow it. */
static void tw_copy_run(unsigned char *to, const unsigned char *from, uint32_t bytes)
{
    uint32_t n = 0;
    if ((((uintptr_t)to | (uintptr_t)from) & 3u) == 0u) {
        for (; n + 4u <= bytes; n += 4u) {
            *(uint32_t *)(void *)(to + n) = *(const uint32_t *)(const void *)(from + n);
        }
    }
    for (; n < bytes; n++) {
        to[n] = from[n];
    }
}

static void tw_play(struct tw_list *list)
{
    int at;
    for (at = 0; at < list->count; at++) {
        const tilewright_copy *copy = &list->copies[at];
        unsigned char *near = list->fast + copy->near;
        unsigned char *far = list->home[copy->operand] + copy->far;
        uint32_t run;
        for (run = 0; run < copy->runs; run++) {
            if (copy->store != 0u) {
                tw_copy_run(far, near, copy->bytes);
            } else {
                tw_copy_run(near, far, copy->bytes);
            }
            near += copy->bytes;
            far += copy->stride;
        }
    }
    list->count = 0;
}

__attribute__((used)) static tilewright_future tw_start(const tilewright_copy *copies, int first, int end, unsigned char *fast,
                                  unsigned char *const *home)
{
    int slot = 0;
    if (first == end) {
        return 0;
    }
    while (slot < TW_LISTS && tw_lists[slot].count != 0) {
        slot++;
    }
    if (slot == TW_LISTS) {
        tw_print("tilewright: more lists of copies under way than the cluster holds\n");
        tw_exit(TW_TRAP);
    }
    tw_lists[slot].copies = copies + first;
    tw_lists[slot].count = end - first;
    tw_lists[slot].fast = fast;
    tw_lists[slot].home = home;
#ifdef TW_DMA_EARLY
    tw_play(&tw_lists[slot]);
#endif
    return slot + 1;
}

__attribute__((used)) static void tw_wait(tilewright_future future)
{
    if (future != 0 && tw_lists[future - 1].count != 0) {
        tw_play(&tw_lists[future - 1]);
    }
}

/* Under names that say whose code it is: what plays the hardware is neither counted nor fenced. */
void tilewright_begin(void (*function)(const void *work, int core, int cores), const void *work)
    __attribute__((alias("tw_begin")));
void tilewright_end(void) __attribute__((alias("tw_end")));
void tilewright_barrier(void) __attribute__((alias("tw_meet")));
tilewright_future tilewright_start(const tilewright_copy *copies, int first, int end, unsigned char *fast,
                                   unsigned char *const *home) __attribute__((alias("tw_start")));
void tilewright_wait(tilewright_future future) __attribute__((alias("tw_wait")));
#endif
