/* Jobs of N-EUREKA: two contexts take turns, so a job is written while another one runs.
 *
 * The end of a job is event 12 of every core, and it stays pending. It is in the mask of the core that drives only while
 * that waits for it: else the next barrier of the cores would return at once. */
#include "neureka.h"

void tilewright_neureka_write(const uint32_t *words);
void tilewright_neureka_start(void);
void tilewright_neureka_wait(void);

static uint32_t tw_neureka_waited; /* jobs that were waited for */

/* Write the words of a free job, waiting for one. */
__attribute__((used)) static void tw_neureka_write(const uint32_t *words)
{
    while ((int32_t)tw_neureka_load(TW_NEUREKA_ACQUIRE) < 0) {
    }
    for (uint32_t word = 0; word < TW_NEUREKA_MANY; word++) {
        tw_neureka_store(TW_NEUREKA_WORDS + 4u * word, words[word]);
    }
}

/* The job whose words were written last is complete. */
__attribute__((used)) static void tw_neureka_start(void) { tw_neureka_store(TW_NEUREKA_START, 0); }

/* Return when the oldest job that was not waited for is done. */
__attribute__((used)) static void tw_neureka_wait(void)
{
    const uint32_t bit = (tw_neureka_waited++ & 1u) != 0u ? 0x100u : 1u;
    while ((tw_neureka_load(TW_NEUREKA_STATUS) & bit) != 0u) {
        tw_event_mask(1u << TW_NEUREKA_EVENT, 0);
        tw_event_wait();
        tw_event_mask(0, 1u << TW_NEUREKA_EVENT);
    }
}

/* Under names that say whose code it is: what drives the hardware is no layer's. */
void tilewright_neureka_write(const uint32_t *words) __attribute__((alias("tw_neureka_write")));
void tilewright_neureka_start(void) __attribute__((alias("tw_neureka_start")));
void tilewright_neureka_wait(void) __attribute__((alias("tw_neureka_wait")));
