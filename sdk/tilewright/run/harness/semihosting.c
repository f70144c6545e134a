/* The port to a bare core with a debugger or simulator behind it: files and exit by semihosting, no C library. Where a
 * target's own start-up code has another way to print, to exit or to count, its function takes the place of ours. */
#include "harness.h"

enum { SYS_OPEN = 1, SYS_CLOSE = 2, SYS_WRITE0 = 4, SYS_WRITE = 5, SYS_READ = 6, SYS_EXIT_EXTENDED = 0x20 };

extern uint8_t __stack_limit[];

#if defined(__riscv)
/* The three instructions must be uncompressed and lie in one page. */
uintptr_t tw_call(uintptr_t operation, const void *block);
__asm__(".section .text.tw_call, \"ax\"\n"
        ".balign 16\n"
        ".globl tw_call\n"
        ".type tw_call, @function\n"
        "tw_call:\n"
        ".option push\n"
        ".option norvc\n"
        "slli x0, x0, 0x1f\n"
        "ebreak\n"
        "srai x0, x0, 7\n"
        ".option pop\n"
        "ret\n"
        ".size tw_call, . - tw_call\n"
        ".text\n");
#else
static uintptr_t tw_call(uintptr_t operation, const void *block)
{
    register uintptr_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
#endif

static uint32_t tw_length(const char *text)
{
    uint32_t length = 0;
    while (text[length] != '\0') {
        length++;
    }
    return length;
}

tw_file tw_open(const char *path, int for_writing)
{
    const uintptr_t block[3] = {(uintptr_t)path, for_writing ? 5u : 1u, tw_length(path)};
    return (tw_file)tw_call(SYS_OPEN, block) + 1;
}

int tw_read(tw_file file, void *to, uint32_t bytes)
{
    const uintptr_t block[3] = {(uintptr_t)(file - 1), (uintptr_t)to, bytes};
    return tw_call(SYS_READ, block) == 0u ? 0 : -1;
}

int tw_write(tw_file file, const void *from, uint32_t bytes)
{
    const uintptr_t block[3] = {(uintptr_t)(file - 1), (uintptr_t)from, bytes};
    return tw_call(SYS_WRITE, block) == 0u ? 0 : -1;
}

void tw_close(tw_file file)
{
    const uintptr_t block[1] = {(uintptr_t)(file - 1)};
    (void)tw_call(SYS_CLOSE, block);
}

__attribute__((weak)) void tw_print(const char *text) { (void)tw_call(SYS_WRITE0, text); }

__attribute__((weak)) void tw_exit(int status)
{
    const uintptr_t block[2] = {0x20026u, (uintptr_t)status};
    for (;;) {
        (void)tw_call(SYS_EXIT_EXTENDED, block);
    }
}

uint8_t *tw_stack_low(void) { return __stack_limit; }

int tw_call_on_painted_stack(int (*call)(void)) { return call(); }

/* Digit by digit from constants: QEMU reads strings only from pages that the PMP opens as a whole. */
static void tw_print_hex(uint32_t value)
{
    static const char digits[16][2] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e", "f"};
    int shift;
    for (shift = 28; shift >= 0; shift -= 4) {
        tw_print(digits[value >> shift & 15u]);
    }
}

/* One line that run/outcome.py reads. The layer is printed in hexadecimal, ffffffff outside of all layers. */
void tw_fault(const char *access, uint32_t pc, uint32_t address)
{
    tw_print("\ntilewright: trap ");
    tw_print(access);
    tw_print(" pc ");
    tw_print_hex(pc);
    tw_print(" address ");
    tw_print_hex(address);
    tw_print(" bytes 0 layer 0x");
    tw_print_hex((uint32_t)tw_layer);
    tw_print("\n");
    tw_exit(TW_TRAP);
}

#if defined(__riscv)
__attribute__((weak)) uint32_t tw_clock(void)
{
    uint32_t count;
    __asm__ volatile(".option push\n"
                     ".option arch, +zicsr\n"
                     "csrr %0, minstret\n"
                     ".option pop\n"
                     : "=r"(count));
    return count;
}

__attribute__((naked)) int tw_nothing(void) { __asm__ volatile("ret"); }
#else
__attribute__((weak)) uint32_t tw_clock(void) { return 0; }
__attribute__((weak)) int tw_nothing(void) { return 0; }
#endif

__attribute__((weak)) void tw_mark(int instruction, int phase)
{
    (void)instruction;
    (void)phase;
}

/* The fence around live buffers is the simulator's. */
void tw_guard_load(void) {}
void tw_guard_before(int instruction) { (void)instruction; }
void tw_guard_after(int instruction) { (void)instruction; }
