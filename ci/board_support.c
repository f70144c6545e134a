/* What a test's firmware needs beside the monitor's own examples: the ends of the start-up files in targets/start on a
 * simulated board, a stream over standard input and output on this machine.
 * BOARD_HANGS and BOARD_RESETS: what the board does when its network has run for the first time. */
#include <stdint.h>

#ifdef BOARD_NATIVE
#include "board.h"

#include <stdlib.h>
#include <unistd.h>

void board_begin(void) {}

int board_read(void)
{
    uint8_t byte;
    if (read(0, &byte, 1) != 1) {
        exit(0);
    }
    return byte;
}

static uint8_t pending[4096];
static size_t pending_bytes;

void board_flush(void)
{
    if (write(1, pending, pending_bytes) != (ssize_t)pending_bytes) {
        exit(1);
    }
    pending_bytes = 0;
}

void board_write(uint8_t byte)
{
    pending[pending_bytes++] = byte;
    if (pending_bytes == sizeof pending) {
        board_flush();
    }
}

uint32_t board_cycles(void)
{
    static uint32_t count;
    return count += 10u;
}
#elif defined(__AVR__)
#include "board.h"

#include <avr/interrupt.h>
#include <avr/io.h>

static volatile uint16_t wraps;

ISR(TIMER1_OVF_vect) { wraps++; }

/* Cycles by a timer of 16 bits and its wraps, of which one may wait to be counted. */
uint32_t board_cycles(void)
{
    uint16_t high, low;
    cli();
    TCCR1B = 1 << CS10;
    TIMSK1 = 1 << TOIE1;
    low = TCNT1;
    high = wraps;
    if ((TIFR1 & (1 << TOV1)) != 0 && low < 0x8000u) {
        high++;
    }
    sei();
    return (uint32_t)high << 16 | low;
}
#else
volatile uint32_t tw_interrupts;
volatile int tw_layer;
void tw_fault(const char *access, uint32_t pc, uint32_t address);
void tw_fault(const char *access, uint32_t pc, uint32_t address)
{
    (void)access;
    (void)pc;
    (void)address;
    for (;;) {
    }
}
#if defined(__arm__)
uint32_t tw_clock(void);
uint32_t board_cycles(void);
uint32_t board_cycles(void) { return tw_clock(); } /* SysTick, whose vector is the start-up file's */
#endif
#endif
