/* SEGGER RTT: a buffer in RAM that the debug probe reads and writes. Add SEGGER_RTT.c of the probe's software.
 * J-Link serves it at 'run --port tcp://localhost:19021'; OpenOCD with: rtt setup ADDRESS SIZE "SEGGER RTT"; rtt start;
 * rtt server start 9090 0. */
#include "SEGGER_RTT.h"
#include "board.h"

void board_begin(void) { SEGGER_RTT_ConfigUpBuffer(0, 0, 0, 0, SEGGER_RTT_MODE_BLOCK_IF_FIFO_FULL); }

int board_read(void)
{
    int byte;
    while ((byte = SEGGER_RTT_GetKey()) < 0) {
    }
    return byte;
}

void board_write(uint8_t byte) { (void)SEGGER_RTT_Write(0, &byte, 1); }

void board_flush(void) {}
