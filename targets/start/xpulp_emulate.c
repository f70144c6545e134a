/* Xpulp instructions on a core that has none: it traps on each, and this computes what the instruction would have. A
 * hardware loop goes back when its last instruction traps, so that one must be of Xpulp. Meanings and encodings: the
 * manual of RI5CY. */
#include <stdint.h>

struct tw_hardware_loop {
    uint32_t first, last, count;
};

uint32_t tw_emulate(uint32_t *registers, uint32_t pc, uint32_t hart);

__attribute__((section(".shared"))) static struct tw_hardware_loop tw_loops[9][2];

static int32_t tw_bits(uint32_t word, int low, int count) { return (int32_t)(word << (32 - low - count)) >> (32 - count); }

static int32_t tw_dot(uint32_t a, uint32_t b, int a_signed, int b_signed)
{
    int32_t sum = 0;
    int i;
    for (i = 0; i < 32; i += 8) {
        const int32_t x = a_signed ? tw_bits(a, i, 8) : (int32_t)(a >> i & 255u);
        const int32_t y = b_signed ? tw_bits(b, i, 8) : (int32_t)(b >> i & 255u);
        sum += x * y;
    }
    return sum;
}

static int32_t tw_dot_halves(uint32_t a, uint32_t b, int a_signed)
{
    const int32_t low = a_signed ? tw_bits(a, 0, 16) : (int32_t)(a & 0xffffu);
    const int32_t high = a_signed ? tw_bits(a, 16, 16) : (int32_t)(a >> 16);
    return (int32_t)((uint32_t)(low * tw_bits(b, 0, 16)) + (uint32_t)(high * tw_bits(b, 16, 16)));
}

/* The larger of every pair of parts of so many bits. */
static uint32_t tw_larger(uint32_t a, uint32_t b, int bits, int with_sign)
{
    const uint32_t mask = (1u << bits) - 1u, flip = with_sign ? 1u << (bits - 1) : 0u;
    uint32_t result = 0;
    int i;
    for (i = 0; i < 32; i += bits) {
        const uint32_t x = a >> i & mask, y = b >> i & mask;
        result |= ((x ^ flip) > (y ^ flip) ? x : y) << i;
    }
    return result;
}

static uint32_t tw_shuffle(uint32_t old, uint32_t from, uint32_t places)
{
    uint32_t result = 0;
    int i;
    for (i = 0; i < 32; i += 8) {
        const uint32_t place = places >> i & 7u;
        result |= ((place & 4u ? from : old) >> (place & 3u) * 8u & 255u) << i;
    }
    return result;
}

/* Loads and stores that move their address register on. Returns 0 for what is none. */
static int tw_access(uint32_t *x, uint32_t code)
{
    const uint32_t base = code >> 15 & 31u, size = code >> 12 & 7u;
    void *const at = (void *)(uintptr_t)x[base];
    if ((code & 127u) == 0x0bu) {
        const uint32_t to = code >> 7 & 31u;
        uint32_t value;
        switch (size) {
        case 0: value = (uint32_t)(int32_t)*(volatile int8_t *)at; break;
        case 1: value = (uint32_t)(int32_t)*(volatile int16_t *)at; break;
        case 2: value = *(volatile uint32_t *)at; break;
        case 4: value = *(volatile uint8_t *)at; break;
        case 5: value = *(volatile uint16_t *)at; break;
        case 7:
            if (code >> 25 != 0x10u) {
                return 0;
            }
            value = *(volatile uint32_t *)at;
            break;
        default: return 0;
        }
        x[base] += size == 7u ? x[code >> 20 & 31u] : (uint32_t)tw_bits(code, 20, 12);
        x[to] = value;
        return 1;
    }
    {
        const uint32_t value = x[code >> 20 & 31u];
        switch (size) {
        case 0: *(volatile uint8_t *)at = (uint8_t)value; break;
        case 1: *(volatile uint16_t *)at = (uint16_t)value; break;
        case 2: *(volatile uint32_t *)at = value; break;
        case 6:
            if (code >> 25 != 0u) {
                return 0;
            }
            *(volatile uint32_t *)at = value;
            x[base] += x[code >> 7 & 31u];
            return 1;
        default: return 0;
        }
        x[base] += (uint32_t)(tw_bits(code, 25, 7) * 32) | (code >> 7 & 31u);
        return 1;
    }
}

static int tw_vector(uint32_t *rd, uint32_t a, uint32_t b, uint32_t form)
{
    switch (form) {
    case 1u << 7 | 0x18u: *rd = tw_larger(a, b, 8, 1); return 1;
    case 1u << 7 | 0x1cu: *rd = tw_larger(a, b, 8, 0); return 1;
    case 0x18u: *rd = tw_larger(a, b, 16, 1); return 1;
    case 0x1cu: *rd = tw_larger(a, b, 16, 0); return 1;
    case 1u << 7 | 0x4cu: *rd = (uint32_t)tw_dot(a, b, 1, 1); return 1;
    case 1u << 7 | 0x50u: *rd += (uint32_t)tw_dot(a, b, 0, 0); return 1;
    case 1u << 7 | 0x54u: *rd += (uint32_t)tw_dot(a, b, 0, 1); return 1;
    case 1u << 7 | 0x5cu: *rd += (uint32_t)tw_dot(a, b, 1, 1); return 1;
    case 1u << 7 | 0x64u: *rd = tw_shuffle(*rd, a, b); return 1;
    case 1u << 7 | 0x6cu: *rd = (*rd & 0xffffu) | (a & 255u) << 24 | (b & 255u) << 16; return 1;
    case 1u << 7 | 0x70u: *rd = (*rd & 0xffff0000u) | (a & 255u) << 8 | (b & 255u); return 1;
    case 0x54u: *rd += (uint32_t)tw_dot_halves(a, b, 0); return 1;
    case 0x5cu: *rd += (uint32_t)tw_dot_halves(a, b, 1); return 1;
    case 0x68u: *rd = (a & 0xffffu) << 16 | (b & 0xffffu); return 1;
    default: return 0;
    }
}

static int tw_scalar(uint32_t *rd, uint32_t a, uint32_t b, uint32_t number, uint32_t form)
{
    const int32_t x = (int32_t)a, y = (int32_t)b;
    switch (form) {
    case 0u << 7 | 0x21u: *rd += a * b; return 1;
    case 1u << 7 | 0x21u: *rd -= a * b; return 1;
    case 4u << 7 | 0x02u: *rd = x < y ? a : b; return 1;
    case 6u << 7 | 0x02u: *rd = x > y ? a : b; return 1;
    case 1u << 7 | 0x0au:
    case 2u << 7 | 0x0au: {
        const int32_t high = number == 0u ? 0 : (int32_t)((1u << (number - 1u)) - 1u);
        const int32_t low = form >> 7 == 1u ? -high - 1 : 0;
        *rd = (uint32_t)(x < low ? low : x > high ? high : x);
        return 1;
    }
    default: return 0;
    }
}

/* One instruction: the next pc, or 0 where it is none of Xpulp that the kernels use. */
static uint32_t tw_step(uint32_t *registers, uint32_t pc, struct tw_hardware_loop *loops)
{
    const uint32_t code = *(const uint16_t *)(uintptr_t)pc | (uint32_t)*(const uint16_t *)(uintptr_t)(pc + 2u) << 16;
    const uint32_t rs1 = code >> 15 & 31u, rs2 = code >> 20 & 31u, f3 = code >> 12 & 7u, f7 = code >> 25;
    uint32_t *const rd = &registers[code >> 7 & 31u];
    const uint32_t a = registers[rs1], b = registers[rs2];
    int known = 0, i;
    switch (code & 127u) {
    case 0x0bu:
    case 0x2bu: known = tw_access(registers, code); break;
    case 0x57u: known = tw_vector(rd, a, b, f3 << 7 | f7); break;
    case 0x33u: known = tw_scalar(rd, a, b, rs2, f3 << 7 | f7); break;
    case 0x5bu:
        if (f3 == 2u && f7 < 32u) {
            *rd = (uint32_t)((int32_t)(a + b) >> f7);
            known = 1;
        }
        break;
    case 0x7bu:
        if (f3 == 4u) {
            struct tw_hardware_loop *const loop = &loops[code >> 7 & 1u];
            loop->first = pc + 4u;
            loop->last = pc + (code >> 20) * 2u;
            loop->count = a;
            return pc + 4u;
        }
        break;
    default: break;
    }
    if (!known) {
        return 0;
    }
    registers[0] = 0;
    for (i = 0; i < 2; i++) {
        struct tw_hardware_loop *const loop = &loops[i];
        if (loop->count != 0u && pc == loop->last) {
            loop->count--;
            if (loop->count != 0u) {
                return loop->first;
            }
        }
    }
    return pc + 4u;
}

/* As many instructions as follow each other; the pc of the first that the core knows, or 0 where there was none. */
uint32_t tw_emulate(uint32_t *registers, uint32_t pc, uint32_t hart)
{
    uint32_t done = 0, next = tw_step(registers, pc, tw_loops[hart]);
    while (next != 0u) {
        done = next;
        next = tw_step(registers, next, tw_loops[hart]);
    }
    return done;
}
