/* Loops take as many turns as a word says that went through a list of registers: a wrong one changes the count. */
#include "lists.h"

#define TEXT(words) #words
#define LIST(words) "{" TEXT(words) "}"
#define CHANGED \
    "memory", "cc", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", \
        "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31"

static union {
    uint8_t bytes[LISTS_ARENA_BYTES];
    uint32_t words[LISTS_ARENA_BYTES / 4];
} arena;
static uint32_t *const from = &arena.words[2];
static uint32_t *const to = &arena.words[34];

uint8_t *lists_input_0(void) { return arena.bytes; }
const uint32_t *lists_output_0(void) { return &arena.words[1]; }

__attribute__((noinline)) static void spin(uint32_t turns)
{
    for (; turns != 0; turns--) {
        *(volatile uint32_t *)&arena.words[1] += turns;
    }
}

int lists_run(void)
{
    uint32_t pushed, below;
    uint32_t *read = from;
    uint32_t *write = to;
    for (uint32_t n = 0; n < 32; n++) {
        *(volatile uint32_t *)&from[n] = 3 + 5 * n;
        *(volatile uint32_t *)&to[n] = 1;
    }
    arena.words[1] = 0;
#if defined(CONDITION)
    __asm volatile("cmp %1, #3\n\tit ne\n\tvldmiane %0!, " LIST(REGISTERS) : "+r"(read) : "r"(arena.words[0]) : CHANGED);
#else
    __asm volatile("vldmia %0!, " LIST(REGISTERS) : "+r"(read) : : CHANGED);
    __asm volatile("vstmia %0!, " LIST(REGISTERS) : "+r"(write) : : CHANGED);
    spin((uint32_t)(read - from) + (uint32_t)(write - to));
    spin(to[0]);
    spin(to[WORDS - 1]);
    __asm volatile("vpush " LIST(REGISTERS) "\n\tldr %0, [sp]\n\tvpop " LIST(REGISTERS) : "=r"(pushed) : : CHANGED);
    spin(pushed);
    __asm volatile("vldmdb %0!, " LIST(REGISTERS) "\n\tvstmdb %1!, " LIST(REGISTERS) : "+r"(read), "+r"(write) : : CHANGED);
    below = to[WORDS - 2];
    spin(below + (uint32_t)(read - from) + (uint32_t)(write - to));
#endif
    return 0;
}
