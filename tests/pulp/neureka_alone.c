/* The model of N-EUREKA alone, as a library: memories of its own, and one job at a time. */
#include <setjmp.h>
#include <string.h>

#include "neureka.h"

unsigned char near_memory[1 << 18], weight_memory[1 << 18];
static char said[200];
static jmp_buf back;

void tw_print(const char *text) { strncat(said, text, sizeof said - strlen(said) - 1); }

void tw_exit(int status) { longjmp(back, status); }

const char *what_it_said(void) { return said; }

static void start(const uint32_t *words)
{
    (void)tw_neureka_load(TW_NEUREKA_ACQUIRE);
    for (uint32_t word = 0; word < TW_NEUREKA_MANY; word++) {
        tw_neureka_store(TW_NEUREKA_WORDS + 4u * word, words[word]);
    }
    tw_neureka_store(TW_NEUREKA_START, 0);
}

int run_job(const uint32_t *words)
{
    said[0] = 0;
    if (setjmp(back) != 0) {
        return 1;
    }
    start(words);
    tw_event_mask(1u << TW_NEUREKA_EVENT, 0);
    tw_event_wait();
    tw_event_mask(0, 1u << TW_NEUREKA_EVENT);
    return 0;
}

/* What the registers say while two jobs run: a third is refused, and ends of both are told in turn. */
int two_jobs(const uint32_t *words, uint32_t *seen)
{
    if (setjmp(back) != 0) {
        return 1;
    }
    start(words);
    start(words);
    seen[0] = tw_neureka_load(TW_NEUREKA_STATUS);
    seen[1] = tw_neureka_load(TW_NEUREKA_ACQUIRE);
    seen[2] = tw_neureka_load(TW_NEUREKA_STATUS);
    tw_event_mask(1u << TW_NEUREKA_EVENT, 0);
    tw_event_wait();
    seen[3] = tw_neureka_load(TW_NEUREKA_STATUS);
    tw_event_wait();
    seen[4] = tw_neureka_load(TW_NEUREKA_STATUS);
    return 0;
}

/* A barrier of the cores with the event in the mask, and a register that may not be written. */
int barrier(void)
{
    said[0] = 0;
    if (setjmp(back) != 0) {
        return 1;
    }
    tw_event_mask(1u << TW_NEUREKA_EVENT, 0);
    tw_event_barrier();
    return 0;
}

int soft_clear(void)
{
    said[0] = 0;
    if (setjmp(back) != 0) {
        return 1;
    }
    tw_neureka_store(0x14, 0);
    return 0;
}
