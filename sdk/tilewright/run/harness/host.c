/* The port to a POSIX machine: standard files, a stack of its own for the model, and the fence around live buffers. */
#define _XOPEN_SOURCE 700
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define TW_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TW_SANITIZED 1
#endif
#endif
#ifdef TW_SANITIZED
#include <sanitizer/asan_interface.h>
#endif

#define TW_STACK_BYTES (1u << 20)

struct tw_range {
    uint32_t instruction; /* 0xffffffff: the memory that is guarded */
    uint32_t writes;
    uint64_t address;
    uint64_t bytes;
};

static struct tw_range *tw_ranges;
static uint32_t tw_range_count;
static uint8_t **tw_copies;
static uint8_t *tw_stack;
static ucontext_t tw_main_context;
static ucontext_t tw_model_context;
static int (*tw_called)(void);

tw_file tw_open(const char *path, int for_writing) { return (tw_file)fopen(path, for_writing ? "wb" : "rb"); }

int tw_read(tw_file file, void *to, uint32_t bytes) { return fread(to, 1, bytes, (FILE *)file) == bytes ? 0 : -1; }

int tw_write(tw_file file, const void *from, uint32_t bytes)
{
    return fwrite(from, 1, bytes, (FILE *)file) == bytes ? 0 : -1;
}

void tw_close(tw_file file) { (void)fclose((FILE *)file); }

void tw_print(const char *text) { (void)fputs(text, stderr); }

void tw_exit(int status) { exit(status); }

uint32_t tw_clock(void) { return 0; }

int tw_nothing(void) { return 0; }

void tw_mark(int instruction, int phase)
{
    (void)instruction;
    (void)phase;
}

uint8_t *tw_stack_low(void) { return tw_stack; }

#ifdef TW_SANITIZED
static void tw_poison(const struct tw_range *range) { __asan_poison_memory_region((void *)(uintptr_t)range->address, range->bytes); }
static void tw_unpoison(const struct tw_range *range) { __asan_unpoison_memory_region((void *)(uintptr_t)range->address, range->bytes); }

/* The sanitizer watches the ordinary stack itself, so the model stays there. */
int tw_call_on_painted_stack(int (*call)(void)) { return call(); }

static void tw_on_death(void) { fprintf(stderr, "\ntilewright: layer %d\n", tw_layer); }
static void tw_watch(void) { __sanitizer_set_death_callback(tw_on_death); }
#else
static void tw_poison(const struct tw_range *range) { (void)range; }
static void tw_unpoison(const struct tw_range *range) { (void)range; }
static void tw_watch(void) {}

static void tw_enter(void) { (void)tw_called(); }

int tw_call_on_painted_stack(int (*call)(void))
{
    if (tw_stack == NULL) {
        tw_stack = malloc(TW_STACK_BYTES);
    }
    if (tw_stack == NULL || getcontext(&tw_model_context) != 0) {
        return -1;
    }
    tw_called = call;
    tw_model_context.uc_stack.ss_sp = tw_stack;
    tw_model_context.uc_stack.ss_size = TW_STACK_BYTES;
    tw_model_context.uc_link = &tw_main_context;
    makecontext(&tw_model_context, tw_enter, 0);
    return swapcontext(&tw_main_context, &tw_model_context);
}
#endif

/* guard.bin: u32 count, u32 zero, then ranges. Those of instruction 0xffffffff come first: they are the guarded memory. */
void tw_guard_load(void)
{
    uint32_t head[2];
    uint32_t i;
    tw_file file = tw_open("guard.bin", 0);
    if (file == 0 || tw_read(file, head, (uint32_t)sizeof head) != 0) {
        tw_exit(TW_BAD_FILE);
    }
    tw_range_count = head[0];
    tw_ranges = calloc(tw_range_count + 1u, sizeof *tw_ranges);
    tw_copies = calloc(tw_range_count + 1u, sizeof *tw_copies);
    if (tw_ranges == NULL || tw_copies == NULL ||
        tw_read(file, tw_ranges, (uint32_t)(tw_range_count * sizeof *tw_ranges)) != 0) {
        tw_exit(TW_BAD_FILE);
    }
    tw_close(file);
    for (i = 0; i < tw_range_count; i++) {
        if (tw_ranges[i].instruction == 0xffffffffu) {
            tw_copies[i] = malloc((size_t)tw_ranges[i].bytes + 1u);
        }
    }
    tw_watch();
}

void tw_guard_before(int instruction)
{
    uint32_t i;
    for (i = 0; i < tw_range_count; i++) {
        if (tw_ranges[i].instruction == 0xffffffffu) {
            memcpy(tw_copies[i], (const void *)(uintptr_t)tw_ranges[i].address, (size_t)tw_ranges[i].bytes);
            tw_poison(&tw_ranges[i]);
        }
    }
    for (i = 0; i < tw_range_count; i++) {
        if (tw_ranges[i].instruction == (uint32_t)instruction) {
            tw_unpoison(&tw_ranges[i]);
        }
    }
}

static int tw_may_write(int instruction, uint64_t address)
{
    uint32_t i;
    for (i = 0; i < tw_range_count; i++) {
        if (tw_ranges[i].instruction == (uint32_t)instruction && tw_ranges[i].writes != 0u &&
            address >= tw_ranges[i].address && address < tw_ranges[i].address + tw_ranges[i].bytes) {
            return 1;
        }
    }
    return 0;
}

void tw_guard_after(int instruction)
{
    uint32_t i;
    uint64_t n;
    for (i = 0; i < tw_range_count; i++) {
        if (tw_ranges[i].instruction == 0xffffffffu) {
            tw_unpoison(&tw_ranges[i]);
        }
    }
    for (i = 0; i < tw_range_count; i++) {
        const uint8_t *now = (const uint8_t *)(uintptr_t)tw_ranges[i].address;
        if (tw_ranges[i].instruction != 0xffffffffu || memcmp(now, tw_copies[i], (size_t)tw_ranges[i].bytes) == 0) {
            continue;
        }
        for (n = 0; n < tw_ranges[i].bytes; n++) {
            if (now[n] != tw_copies[i][n] && !tw_may_write(instruction, tw_ranges[i].address + n)) {
                fprintf(stderr, "\ntilewright: fence store pc 0 address %llx bytes 1 layer %d\n",
                        (unsigned long long)(tw_ranges[i].address + n), instruction);
                fflush(NULL);
                _exit(TW_FENCED);
            }
        }
    }
}
