/* Start-up of the test image on a Cortex-M: vectors, memory, FPU, faults and, with TW_FENCE, the MPU. */
#include "harness.h"

#define SCB(offset) (*(volatile uint32_t *)(0xe000ed00u + (offset)))
#define MPU_CTRL SCB(0x94u)
#define MPU_RNR SCB(0x98u)
#define MPU_RBAR SCB(0x9cu)
#define MPU_RASR SCB(0xa0u) /* v8-M: RLAR */
#define MPU_MAIR0 SCB(0xc0u)

extern uint32_t __data_start[], __data_end[], __data_load[], __bss_start[], __bss_end[], __stack_top[];
extern uint32_t __stack_limit[], __ram_used_end[], __flash_used_end[], __flash_start[];
extern uint8_t __tls_base[];
extern int main(void);
extern void _set_tls(void *tls) __attribute__((weak));
void Reset_Handler(void);
void tw_cortex_m_fault(const uint32_t *frame, uint32_t exception);

static uint64_t tw_trap_stack[64];
uint64_t *const tw_trap_stack_top = &tw_trap_stack[64];

/* Switches to a stack of its own first: the interrupted one may be what overran. */
__attribute__((naked)) static void Fault_Handler(void)
{
    __asm__ volatile("mov r0, sp\n"
                     "mrs r1, xpsr\n"
                     "ldr r2, =tw_trap_stack_top\n"
                     "ldr r2, [r2]\n"
                     "mov sp, r2\n"
                     "ldr r2, =tw_cortex_m_fault\n"
                     "bx r2\n");
}

#define SYSTICK(offset) (*(volatile uint32_t *)(0xe000e010u + (offset)))

/* SysTick has 24 bits: it interrupts whenever it reaches zero, in exactly five instructions. */
__attribute__((naked)) static void tw_systick(void)
{
    __asm__ volatile(".syntax unified\n"
                     "ldr r0, =tw_interrupts\n"
                     "ldr r1, [r0]\n"
                     "adds r1, #1\n"
                     "str r1, [r0]\n"
                     "bx lr\n"
                     ".ltorg\n");
}

/* Ticks since the first call, which starts the counter. An interrupt between the three readings is seen by the counter:
 * it has just begun anew, or is about to. */
uint32_t tw_clock(void)
{
    uint32_t before;
    uint32_t elapsed;
    uint32_t after;
    if ((SYSTICK(0u) & 1u) == 0u) {
        SYSTICK(4u) = 0xffffffu;
        SYSTICK(8u) = 0u;
        SYSTICK(0u) = 7u;
        while (SYSTICK(8u) == 0u) {
        }
    }
    before = tw_interrupts;
    elapsed = (0u - SYSTICK(8u)) & 0xffffffu;
    after = tw_interrupts;
    return ((elapsed < 0x800000u ? after : before) << 24) + elapsed;
}

__attribute__((naked)) int tw_nothing(void) { __asm__ volatile("bx lr"); }

__attribute__((section(".vectors"), used)) static const uintptr_t tw_vectors[16] = {
    (uintptr_t)__stack_top,   (uintptr_t)Reset_Handler, (uintptr_t)Fault_Handler, (uintptr_t)Fault_Handler,
    (uintptr_t)Fault_Handler, (uintptr_t)Fault_Handler, (uintptr_t)Fault_Handler, (uintptr_t)Fault_Handler,
    [15] = (uintptr_t)tw_systick};

void tw_cortex_m_fault(const uint32_t *frame, uint32_t exception)
{
    uint32_t pc = 0;
    uint32_t address = 0xffffffffu; /* not known */
    const char *access = "other";
    (void)exception;
    if (frame >= __stack_limit && frame + 8 <= __stack_top) {
        pc = frame[6];
    }
#if defined(__ARM_ARCH_6M__)
    access = "access";
    if (frame < __stack_limit) {
        address = (uint32_t)(uintptr_t)frame;
    }
#else
    {
        uint32_t status = SCB(0x28u);
        if ((status & 0x80u) != 0u) {
            access = "access";
            address = SCB(0x34u);
        } else if ((status & 0x8000u) != 0u) {
            access = "access";
            address = SCB(0x38u);
        } else if ((status & 0x101u) != 0u) {
            access = "fetch";
            address = pc;
        } else if ((status & 0x1010u) != 0u) {
            access = "access"; /* the core could not push its frame: the stack is at its end */
            address = (uint32_t)(uintptr_t)frame;
        }
    }
#endif
    tw_fault(access, pc, address);
}

#if defined(TW_FENCE) && !defined(__ARM_ARCH_6M__)
#if __ARM_ARCH >= 8
/* Regions of any multiple of 32 bytes. */
static uint32_t tw_allow(uint32_t region, uint32_t start, uint32_t end, int writable)
{
    MPU_RNR = region;
    MPU_RBAR = start | (writable ? (1u << 1) | 1u : 3u << 1);
    MPU_RASR = ((end - 1u) & ~31u) | 1u;
    return region + 1u;
}
#else
/* Regions are powers of two with eight subregions each: every further region refines the last, partly used eighth.
 * Below 2 KiB there is nothing left to refine: subregions need 256 bytes. */
static uint32_t tw_allow(uint32_t region, uint32_t start, uint32_t end, int writable)
{
    uint32_t attributes = writable ? (1u << 28) | (3u << 24) : 6u << 24;
    uint32_t bits = 8;
    while (bits < 31u && (1u << bits) < end - start) {
        bits++;
    }
    for (;;) {
        uint32_t eighth = 1u << (bits - 3u);
        uint32_t whole = (end - start) / eighth;
        if (bits < 11u || region == 7u) {
            whole = (end - start + eighth - 1u) / eighth;
        }
        MPU_RNR = region;
        MPU_RBAR = start;
        MPU_RASR = attributes | ((0xff00u << whole >> 8 & 0xffu) << 8) | ((bits - 1u) << 1) | (whole != 0u ? 1u : 0u);
        region++;
        start += whole * eighth;
        if (start >= end || region > 7u) {
            return region;
        }
        bits -= 3u;
    }
}
#endif

static void tw_protect(void)
{
    uint32_t region;
#if __ARM_ARCH >= 8
    MPU_MAIR0 = 0xffu;
#endif
    region = tw_allow(0, (uint32_t)(uintptr_t)__flash_start, (uint32_t)(uintptr_t)__flash_used_end, 0);
    (void)tw_allow(region, (uint32_t)(uintptr_t)__stack_limit, (uint32_t)(uintptr_t)__ram_used_end, 1);
    MPU_CTRL = 3u; /* on, in fault handlers too; no background map */
    __asm__ volatile("dsb\n isb" ::: "memory");
}
#endif

void Reset_Handler(void)
{
    uint32_t *to;
    const uint32_t *from = __data_load;
#if !defined(__ARM_ARCH_6M__)
    SCB(0x88u) |= 0xfu << 20; /* FPU and MVE */
    SCB(0x24u) |= 7u << 16;   /* faults of their own for memory, bus and usage */
    __asm__ volatile("dsb\n isb" ::: "memory");
#endif
    for (to = __data_start; to < __data_end; to++) {
        *to = *from++;
    }
    for (to = __bss_start; to < __bss_end; to++) {
        *to = 0;
    }
    if (_set_tls != 0) {
        _set_tls(__tls_base);
    }
#if defined(TW_FENCE) && !defined(__ARM_ARCH_6M__)
    tw_protect();
#endif
    (void)main();
    for (;;) {
    }
}
