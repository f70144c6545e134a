/* The test image: reads control.bin and input.bin, runs the model, writes output.bin, dump.bin and result.bin.
 *
 * control.bin  u32 magic, flags, fills, dumps, calls; then fills of (u64 address, u64 bytes), which are overwritten with a
 *              pattern before the inputs are read; then dumps of (u32 instruction, u32 phase, u64 address, u64 bytes)
 *              in the order of execution, written to dump.bin as the trace reaches them.
 * input.bin    the inputs of every call.
 * output.bin   for every call the outputs, the state behind it, u32 ticks and interrupts as in result.bin. The stack is
 *              that of the first call.
 * result.bin   u32 status, u32 what the model returned, u32 stack bytes, u32 ticks of the core's counter that the model
 *              took beyond those of one instruction, u32 interrupts of the counter meanwhile.
 * tap.bin      where the image is built to take out rows inside of chains: for every call of a node u32 instruction,
 *              node, first row, bytes, then the rows.
 * Where it is built to write text, text.c chooses the inputs of every call by what came of the one before.
 * Small on purpose: it must leave a microcontroller's memory to the model. */
#include "harness.h"

struct tw_dump {
    uint32_t instruction;
    uint32_t phase;
    uint64_t address;
    uint64_t bytes;
};

/* A read of byte 2 * instruction + phase tells the simulator's plugin where the plan stands. */
const uint8_t tw_trace_marks[TW_TRACE_MARKS] = {1};
volatile int tw_layer = -1;
volatile uint32_t tw_stack_used;
static volatile int tw_returned;
volatile uint32_t tw_interrupts;
static uint32_t tw_ticks;
static uint32_t tw_interrupted;
static uint32_t tw_flags;
static uint32_t tw_dumps_left;
static uint32_t tw_calls;
static struct tw_dump tw_next;
static tw_file tw_control;
static tw_file tw_dump_file;

static void tw_stop(int status)
{
    uint32_t result[5];
    tw_file file = tw_open("result.bin", 1);
    result[0] = (uint32_t)status;
    result[1] = (uint32_t)tw_returned;
    result[2] = tw_stack_used;
    result[3] = tw_ticks;
    result[4] = tw_interrupted;
    if (file != 0) {
        (void)tw_write(file, result, (uint32_t)sizeof result);
        tw_close(file);
    }
    tw_exit(status);
}

static void tw_read_next(void)
{
    if (tw_dumps_left != 0u && tw_read(tw_control, &tw_next, (uint32_t)sizeof tw_next) != 0) {
        tw_stop(TW_BAD_FILE);
    }
}

void tw_trace(int instruction, int phase)
{
    uint32_t mark = 2u * (uint32_t)instruction + (uint32_t)phase;
    if (phase != 0 && (tw_flags & TW_PROFILE) != 0u) {
        tw_mark(instruction, phase);
    }
    tw_layer = instruction;
    if (mark < TW_TRACE_MARKS) {
        (void)*(const volatile uint8_t *)&tw_trace_marks[mark];
    }
    while (tw_dumps_left != 0u && tw_next.instruction == (uint32_t)instruction && tw_next.phase == (uint32_t)phase) {
        if (tw_write(tw_dump_file, (const void *)(uintptr_t)tw_next.address, (uint32_t)tw_next.bytes) != 0) {
            tw_stop(TW_BAD_FILE);
        }
        tw_dumps_left--;
        tw_read_next();
    }
    if ((tw_flags & TW_GUARD) != 0u) {
        if (phase == 0) {
            tw_guard_before(instruction);
        } else {
            tw_guard_after(instruction);
        }
    }
    if (phase != 0) {
        tw_layer = -1;
    } else if ((tw_flags & TW_PROFILE) != 0u) {
        tw_mark(instruction, phase);
    }
}

#ifdef TILEWRIGHT_ROW_TAPS
static tw_file tw_tap_file;

void tilewright_tap(int node, int first_row, const void *rows, int size_bytes)
{
    uint32_t head[4];
    head[0] = (uint32_t)tw_layer;
    head[1] = (uint32_t)node;
    head[2] = (uint32_t)first_row;
    head[3] = (uint32_t)size_bytes;
    if (tw_tap_file == 0) {
        tw_tap_file = tw_open("tap.bin", 1);
    }
    if (tw_tap_file == 0 || tw_write(tw_tap_file, head, (uint32_t)sizeof head) != 0 ||
        tw_write(tw_tap_file, rows, (uint32_t)size_bytes) != 0) {
        tw_stop(TW_BAD_FILE);
    }
}
#endif

static void tw_load_control(void)
{
    uint32_t head[5];
    uint64_t fill[2];
    uint32_t i;
    tw_control = tw_open("control.bin", 0);
    if (tw_control == 0 || tw_read(tw_control, head, (uint32_t)sizeof head) != 0 || head[0] != TW_MAGIC) {
        tw_stop(TW_BAD_FILE);
    }
    tw_flags = head[1];
    for (i = 0; i < head[2]; i++) {
        volatile uint8_t *byte;
        uint64_t n;
        if (tw_read(tw_control, fill, (uint32_t)sizeof fill) != 0) {
            tw_stop(TW_BAD_FILE);
        }
        byte = (volatile uint8_t *)(uintptr_t)fill[0];
        for (n = 0; n < fill[1]; n++) {
            byte[n] = (uint8_t)TW_PATTERN;
        }
    }
    tw_dumps_left = head[3];
    tw_calls = head[4];
    tw_read_next();
    if (tw_dumps_left != 0u) {
        tw_dump_file = tw_open("dump.bin", 1);
    }
    if ((tw_flags & TW_GUARD) != 0u) {
        tw_guard_load();
    }
}

#ifndef TW_TEXT
static void tw_load_inputs(tw_file file)
{
    uint32_t i;
    for (i = 0; i < tw_input_count; i++) {
        if (file == 0 || tw_read(file, tw_input(i), tw_input_bytes(i)) != 0) {
            tw_stop(TW_BAD_FILE);
        }
    }
}
#endif

static void tw_store_outputs(tw_file file)
{
    uint32_t i;
    uint32_t cost[2];
    cost[0] = tw_ticks;
    cost[1] = tw_interrupted;
    for (i = 0; i < tw_output_count; i++) {
        if (file == 0 || tw_write(file, tw_output(i), tw_output_bytes(i)) != 0) {
            tw_stop(TW_BAD_FILE);
        }
    }
    if (file == 0 || (tw_state_bytes != 0u && tw_write(file, tw_state(), tw_state_bytes) != 0) ||
        tw_write(file, cost, (uint32_t)sizeof cost) != 0) {
        tw_stop(TW_BAD_FILE);
    }
}

/* The stack pointer of whoever calls the model: what lies above is not the model's. */
static volatile uint8_t *tw_caller;

__attribute__((noinline)) static uint32_t tw_timed(int (*volatile call)(void))
{
    volatile uint8_t *here;
    uint32_t start;
    TW_STACK_POINTER(here);
    tw_caller = here;
    start = tw_clock();
    tw_returned = call();
    return tw_clock() - start;
}

/* Runs the model with the stack below this frame painted, and finds the deepest byte that changed. */
__attribute__((noinline)) static int tw_measure(void)
{
    volatile uint8_t *low = tw_stack_low();
    volatile uint8_t *here;
    volatile uint8_t *byte;
    TW_STACK_POINTER(here);
    if ((tw_flags & TW_PAINT) != 0u && low != 0) {
        for (byte = low; byte < here; byte++) {
            *byte = (uint8_t)TW_PATTERN;
        }
    }
    if ((tw_flags & TW_CLOCK) != 0u) {
        /* what the two readings and the call cost by themselves is taken off, and the return of nothing with it */
        uint32_t around = tw_timed(tw_nothing);
        uint32_t before = tw_interrupts;
        tw_ticks = tw_timed(tw_run) - around;
        tw_interrupted = tw_interrupts - before;
    } else {
        tw_caller = here;
        tw_returned = tw_run();
    }
    if ((tw_flags & TW_PAINT) != 0u && low != 0) {
        byte = low;
        while (byte < tw_caller && *byte == (uint8_t)TW_PATTERN) {
            byte++;
        }
        tw_stack_used = (uint32_t)(tw_caller - byte);
    }
    return 0;
}

int main(void)
{
    uint32_t call;
    tw_file inputs;
    tw_file outputs;
    tw_load_control();
    tw_returned = tw_init();
    if (tw_returned != 0) {
        tw_stop(TW_MODEL_FAILED);
    }
    inputs = tw_input_count != 0u ? tw_open("input.bin", 0) : 0;
    outputs = tw_open("output.bin", 1);
    for (call = 0; call < tw_calls; call++) {
#ifdef TW_TEXT
        if (tw_feed() == 0) {
            break;
        }
#else
        tw_load_inputs(inputs);
#endif
        (void)tw_call_on_painted_stack(tw_measure);
        if (tw_returned != 0) {
            tw_stop(TW_MODEL_FAILED);
        }
        tw_store_outputs(outputs);
#ifdef TW_TEXT
        tw_take();
#endif
        tw_flags &= ~TW_PAINT;
    }
#ifdef TW_COVER
    tw_cover();
#endif
    if (inputs != 0) {
        tw_close(inputs);
    }
    tw_close(outputs);
    tw_close(tw_control);
    if (tw_dump_file != 0) {
        tw_close(tw_dump_file);
    }
#ifdef TILEWRIGHT_ROW_TAPS
    if (tw_tap_file != 0) {
        tw_close(tw_tap_file);
    }
#endif
    tw_stop(TW_OK);
    return 0;
}
