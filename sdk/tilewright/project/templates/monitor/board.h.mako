/* What the examples bring to the monitor: one file gives the stream of bytes, cycles.c the counter. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

void board_begin(void);
int board_read(void); /* waits for a byte */
void board_write(uint8_t byte);
void board_flush(void);
uint32_t board_cycles(void);

#endif
