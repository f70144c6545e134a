/* An ATmega1284P of simavr whose first UART is this program's standard input and output: avr_board image.elf */
#include <poll.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CYCLES_BETWEEN_LOOKS = 2000, BUFFER_BYTES = 256 };

static uint8_t pending[BUFFER_BYTES];
static size_t pending_bytes;
static int has_room = 1;

static int sent(void)
{
    const uint8_t *at = pending;
    while (pending_bytes > 0) {
        const ssize_t written = write(1, at, pending_bytes);
        if (written <= 0) {
            return 0;
        }
        at += written;
        pending_bytes -= (size_t)written;
    }
    return 1;
}

static void take(struct avr_irq_t *irq, uint32_t value, void *unused)
{
    (void)irq;
    (void)unused;
    pending[pending_bytes++] = (uint8_t)value;
    if (pending_bytes == sizeof pending && !sent()) {
        _exit(1);
    }
}

static void set_room(struct avr_irq_t *irq, uint32_t value, void *room)
{
    (void)irq;
    if (value != 0) {
        has_room = room != NULL;
    }
}

int main(int count, char **words)
{
    elf_firmware_t firmware = {0};
    if (count != 2 || elf_read_firmware(words[1], &firmware) != 0) {
        return 2;
    }
    strcpy(firmware.mmcu, "atmega1284p");
    firmware.frequency = 16000000;
    avr_t *const core = avr_make_mcu_by_name(firmware.mmcu);
    if (core == NULL) {
        return 2;
    }
    avr_init(core);
    core->log = LOG_NONE;
    avr_load_firmware(core, &firmware);
    uint32_t flags = 0;
    avr_ioctl(core, AVR_IOCTL_UART_SET_FLAGS('0'), &flags); /* nothing on the console, no sleep in a polling loop */
    const uint32_t uart = AVR_IOCTL_UART_GETIRQ('0');
    avr_irq_t *const input = avr_io_getirq(core, uart, UART_IRQ_INPUT);
    avr_irq_register_notify(avr_io_getirq(core, uart, UART_IRQ_OUTPUT), take, NULL);
    avr_irq_register_notify(avr_io_getirq(core, uart, UART_IRQ_OUT_XON), set_room, &has_room);
    avr_irq_register_notify(avr_io_getirq(core, uart, UART_IRQ_OUT_XOFF), set_room, NULL);
    for (avr_cycle_count_t next = 0; core->state != cpu_Done && core->state != cpu_Crashed;) {
        avr_run(core);
        if (core->cycle < next) {
            continue;
        }
        next = core->cycle + CYCLES_BETWEEN_LOOKS;
        struct pollfd line = {.fd = 0, .events = POLLIN};
        if (!sent()) {
            return 1;
        }
        while (has_room && poll(&line, 1, 0) > 0) {
            uint8_t byte;
            if (read(0, &byte, 1) != 1) {
                return 0;
            }
            avr_raise_irq(input, byte);
        }
    }
    return 1;
}
