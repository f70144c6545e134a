/* A UART, polled. Name its kind and its address; clocks, pins and baud rate are set as your board wants it.
 *   -DMONITOR_UART=0x40011000 -DMONITOR_UART_STM32      USART of STM32F1, F2, F4, L1 (SR, DR)
 *   -DMONITOR_UART=0x40013800 -DMONITOR_UART_STM32_ISR  USART of STM32F0, F3, F7, G, H, L4, U (ISR, RDR, TDR)
 *   -DMONITOR_UART=0x10000000 -DMONITOR_UART_16550      16550 with registers of one byte
 *   -DMONITOR_UART=0x40004000 -DMONITOR_UART_CMSDK      APB UART of Arm's CMSDK, as on the MPS2 and MPS3 boards
 *   -DMONITOR_UART=0xc0       -DMONITOR_UART_AVR        USART0 of ATmegas */
#include "board.h"

#define WORD(offset) (*(volatile uint32_t *)(MONITOR_UART + (offset)))
#define BYTE(offset) (*(volatile uint8_t *)(MONITOR_UART + (offset)))

#if defined(MONITOR_UART_STM32)
#define BEGIN() (WORD(12u) |= 0x200cu) /* on, transmitter and receiver */
#define READABLE() ((WORD(0u) & 0x20u) != 0u)
#define WRITABLE() ((WORD(0u) & 0x80u) != 0u)
#define INPUT() WORD(4u)
#define OUTPUT(byte) (WORD(4u) = (byte))
#elif defined(MONITOR_UART_STM32_ISR)
#define BEGIN() (WORD(0u) |= 0xdu, WORD(12u) |= 0x1000u) /* on; an overrun is not remembered */
#define READABLE() ((WORD(28u) & 0x20u) != 0u)
#define WRITABLE() ((WORD(28u) & 0x80u) != 0u)
#define INPUT() WORD(36u)
#define OUTPUT(byte) (WORD(40u) = (byte))
#elif defined(MONITOR_UART_16550)
#define BEGIN() (BYTE(2u) = 1u) /* the FIFOs */
#define READABLE() ((BYTE(5u) & 0x01u) != 0u)
#define WRITABLE() ((BYTE(5u) & 0x20u) != 0u)
#define INPUT() BYTE(0u)
#define OUTPUT(byte) (BYTE(0u) = (byte))
#elif defined(MONITOR_UART_CMSDK)
#define BEGIN() (WORD(16u) = 16u, WORD(8u) = 3u) /* the fastest rate, transmitter and receiver */
#define READABLE() ((WORD(4u) & 2u) != 0u)
#define WRITABLE() ((WORD(4u) & 1u) == 0u)
#define INPUT() WORD(0u)
#define OUTPUT(byte) (WORD(0u) = (byte))
#elif defined(MONITOR_UART_AVR)
#define BEGIN() (BYTE(1u) = 0x18u) /* transmitter and receiver */
#define READABLE() ((BYTE(0u) & 0x80u) != 0u)
#define WRITABLE() ((BYTE(0u) & 0x20u) != 0u)
#define INPUT() BYTE(6u)
#define OUTPUT(byte) (BYTE(6u) = (byte))
#else
#error "say which UART: see the head of this file"
#endif

#ifndef MONITOR_IDLE
#define MONITOR_IDLE() /* while no byte comes: let another task run, for instance */
#endif

void board_begin(void) { BEGIN(); }

int board_read(void)
{
    while (!READABLE()) {
        MONITOR_IDLE();
    }
    return (int)(INPUT() & 0xffu);
}

void board_write(uint8_t byte)
{
    while (!WRITABLE()) {
    }
    OUTPUT(byte);
}

void board_flush(void) {}
