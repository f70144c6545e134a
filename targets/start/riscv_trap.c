/* Names the access that a RISC-V core refused. */
#include "harness.h"

void tw_riscv_trap(uint32_t cause, uint32_t pc, uint32_t address);

void tw_riscv_trap(uint32_t cause, uint32_t pc, uint32_t address)
{
    const char *access = "other";
    if (cause == 0u || cause == 1u) {
        access = "fetch";
    } else if (cause == 4u || cause == 5u) {
        access = "load";
    } else if (cause == 6u || cause == 7u) {
        access = "store";
    }
    tw_fault(access, pc, address);
}
