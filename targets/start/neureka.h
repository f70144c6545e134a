/* The registers of N-EUREKA and its event, as its driver takes them: on the chip, or played by `neureka_model.c` in C
 * where TW_NEUREKA_PLAYED is defined. */
#ifndef TW_NEUREKA_H
#define TW_NEUREKA_H

#include <stdint.h>

enum {
    TW_NEUREKA_START = 0x00,   /* write 0: the job that was acquired last is complete, start */
    TW_NEUREKA_ACQUIRE = 0x04, /* read: number of a free job, negative while both are taken */
    TW_NEUREKA_STATUS = 0x0C,  /* bits 0 and 8: job 0 or 1 is not done */
    TW_NEUREKA_WORDS = 0x20,
    TW_NEUREKA_MANY = 24,
    TW_NEUREKA_EVENT = 12
};

#ifdef TW_NEUREKA_PLAYED
uint32_t tw_neureka_load(uint32_t place);
void tw_neureka_store(uint32_t place, uint32_t value);
void tw_event_mask(uint32_t set, uint32_t cleared);
void tw_event_wait(void);
void tw_event_barrier(void);
#else
#define TW_NEUREKA 0x10201000u
#define TW_EVENTS 0x00204000u

static inline uint32_t tw_neureka_load(uint32_t place) { return *(volatile uint32_t *)(TW_NEUREKA + place); }

static inline void tw_neureka_store(uint32_t place, uint32_t value) { *(volatile uint32_t *)(TW_NEUREKA + place) = value; }

static inline void tw_event_mask(uint32_t set, uint32_t cleared)
{
    *(volatile uint32_t *)(TW_EVENTS + 0x08u) = set;
    *(volatile uint32_t *)(TW_EVENTS + 0x04u) = cleared;
}

static inline void tw_event_wait(void)
{
    uint32_t woken;
    __asm__ volatile(".insn i 0x03, 6, %0, 0(%1)" : "=r"(woken) : "r"(TW_EVENTS + 0x3Cu) : "memory"); /* p.elw */
    (void)woken;
}
#endif

#endif
