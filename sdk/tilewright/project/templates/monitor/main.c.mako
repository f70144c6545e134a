/* A firmware that does nothing but serve ${m.name} to 'tilewright run --port'. ${m.tool}.
 * This file is yours: no licence notice is asked for.
 *
 * Compile it with all of src/ and monitor/, cycles.c and one of uart.c, semihosting.c, rtt.c and usb_cdc.c, all with the
 * flags of your firmware; with -D${m.upper}_TRACE single layers can be compared and timed. */
#include "board.h"
#include "${m.name}_monitor.h"

/* Where the stack begins that main runs on, as your link script calls it; without it no stack is measured. */
#ifdef MONITOR_STACK_LOW
extern unsigned char MONITOR_STACK_LOW[];
#else
#define MONITOR_STACK_LOW 0
#endif

/* A pin for an energy meter or an oscilloscope: set it where the network runs. */
static void mark(int running) { (void)running; }

int main(void)
{
    const ${m.name}_monitor_port board = {board_read, board_write, board_flush, board_cycles, mark, MONITOR_STACK_LOW};
    board_begin();
    for (;;) {
% for path in m.blobs:
        /* ${path} belongs to it: give its bytes to ${m.name}_load_weights first. */
% endfor
        ${m.name}_monitor(&board);
    }
}
