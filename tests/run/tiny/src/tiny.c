/* FAULT_* break it on purpose, one way each. */
#include "tiny.h"
#include "tiny_internal.h"

/* input 0..15, sum of input and weights 16..31 (or 32..47 after a wrong offset), output 32..95 */
static union {
    uint8_t bytes[TINY_ARENA_BYTES];
    int32_t words[TINY_ARENA_BYTES / 4];
} tiny_arena;

int8_t *tiny_input_0(void) { return (int8_t *)&tiny_arena.bytes[0]; }
const int32_t *tiny_output_0(void) { return &tiny_arena.words[8]; }

#if defined(FAULT_STACK)
__attribute__((noinline)) static int tiny_deep(int depth)
{
    volatile uint8_t block[512];
    block[0] = (uint8_t)depth;
    block[511] = 1;
    return depth == 0 ? 0 : tiny_deep(depth - 1) + block[0];
}
#endif

__attribute__((noinline)) static void tiny_add(const int8_t *x, const int8_t *weights, int8_t *y)
{
    int i;
#if defined(FAULT_PAST_END)
    const int count = 17;
#else
    const int count = 16;
#endif
    for (i = 0; i < count; i++) {
        y[i] = (int8_t)(x[i % 16] + weights[i % 16]);
    }
#if defined(FAULT_CONSTANT)
    *(volatile int8_t *)(uintptr_t)&weights[3] = 1;
#endif
#if defined(FAULT_STACK)
    y[0] = (int8_t)tiny_deep(400);
#endif
#if defined(FAULT_FOREVER)
    while (*(volatile int8_t *)y == y[0]) {
    }
#endif
}

__attribute__((noinline)) static void tiny_sum(const int8_t *x, int32_t *y)
{
    int i;
    int32_t total = 0;
#if defined(FAULT_OFFSET)
    x -= 4;
#endif
#if defined(FAULT_READ_BYTE)
    total += *(const volatile int8_t *)&x[80] & 0;
#endif
#if defined(FAULT_READ_WORD)
    total += *(const volatile int32_t *)(const void *)&x[12] & 0;
    for (i = 0; i < 13; i++) {
#else
    for (i = 0; i < 16; i++) {
#endif
        total += x[i];
        y[i] = total;
    }
}

int tiny_run(void)
{
#ifdef TINY_TRACE
    tiny_trace(0, 0);
#endif
    tiny_add((const int8_t *)&tiny_arena.bytes[0], tiny_weights, (int8_t *)&tiny_arena.bytes[16]);
#ifdef TINY_TRACE
    tiny_trace(0, 1);
    tiny_trace(1, 0);
#endif
    tiny_sum((const int8_t *)&tiny_arena.bytes[16], &tiny_arena.words[8]);
#ifdef TINY_TRACE
    tiny_trace(1, 1);
#endif
#if defined(FAULT_CODE)
    return 3;
#else
    return 0;
#endif
}
