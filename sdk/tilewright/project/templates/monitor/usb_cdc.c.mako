/* USB CDC by TinyUSB: the board shows up as /dev/ttyACM0 or COM3. Descriptors, clocks and interrupts are your board's. */
#include "board.h"
#include "tusb.h"

void board_begin(void) { (void)tusb_init(); }

int board_read(void)
{
    while (!tud_cdc_available()) {
        tud_task();
    }
    return (int)(tud_cdc_read_char() & 0xff);
}

void board_write(uint8_t byte)
{
    while (tud_cdc_write_available() == 0u) {
        (void)tud_cdc_write_flush();
        tud_task();
    }
    (void)tud_cdc_write_char((char)byte);
}

void board_flush(void)
{
    (void)tud_cdc_write_flush();
    tud_task();
}
