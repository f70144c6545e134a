/* A counter of cycles that wraps at 2^32: DWT of Armv7-M and Armv8-M mainline, mcycle of RISC-V, else SysTick, which
 * must be free and needs the interrupt below in the table of vectors. -DMONITOR_SYSTICK takes it on any Cortex-M. */
#include "board.h"

#if defined(__riscv)
uint32_t board_cycles(void)
{
    uint32_t count;
    __asm__ volatile(".option push\n"
                     ".option arch, +zicsr\n"
                     "csrr %0, mcycle\n"
                     ".option pop\n"
                     : "=r"(count));
    return count;
}
#elif defined(__arm__) && !defined(MONITOR_SYSTICK) && \
    (defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) || defined(__ARM_ARCH_8M_MAIN__) || \
     defined(__ARM_ARCH_8_1M_MAIN__))
#define DEBUG_CONTROL (*(volatile uint32_t *)0xe000edfcu)
#define DWT_CONTROL (*(volatile uint32_t *)0xe0001000u)
#define DWT_COUNT (*(volatile uint32_t *)0xe0001004u)
#define DWT_LOCK (*(volatile uint32_t *)0xe0001fb0u)

uint32_t board_cycles(void)
{
    if ((DWT_CONTROL & 1u) == 0u || (DEBUG_CONTROL & (1u << 24)) == 0u) {
        DEBUG_CONTROL |= 1u << 24;
        DWT_LOCK = 0xc5acce55u; /* Cortex-M7 */
        DWT_COUNT = 0u;
        DWT_CONTROL |= 1u;
    }
    return DWT_COUNT;
}
#elif defined(__arm__)
#define SYSTICK(offset) (*(volatile uint32_t *)(0xe000e010u + (offset)))
static volatile uint32_t wraps;
void SysTick_Handler(void);

void SysTick_Handler(void) { wraps++; }

uint32_t board_cycles(void)
{
    uint32_t before;
    uint32_t elapsed;
    uint32_t after;
    if ((SYSTICK(0u) & 1u) == 0u) {
        SYSTICK(4u) = 0xffffffu;
        SYSTICK(8u) = 0u;
        SYSTICK(0u) = 7u; /* on, with its interrupt, by the core's clock */
    }
    before = wraps;
    elapsed = (0u - SYSTICK(8u)) & 0xffffffu;
    after = wraps;
    return ((elapsed < 0x800000u ? after : before) << 24) + elapsed;
}
#else
uint32_t board_cycles(void) { return 0; } /* your core's counter */
#endif
