/* Output transform of F(2x2, 3x3): sixteen sums, one word apart by `step`, to four accumulators times four. */
TILEWRIGHT_INTO void tilewright_winograd_outputs(const int32_t *m, const int step, uint32_t start, int32_t outputs[4])
{
    uint32_t v[16];
    TILEWRIGHT_UNROLL
    for (int i = 0; i < 16; i++) {
        v[i] = (uint32_t)m[i * step];
    }
    const uint32_t middle = v[5] + start;
    const uint32_t a = v[4] + middle + v[6];
    const uint32_t b = middle - v[6] - v[7];
    const uint32_t c = v[8] + v[9] + v[10];
    const uint32_t d = v[9] - v[10] - v[11];
    outputs[0] = (int32_t)(v[0] + v[1] + v[2] + a + c);
    outputs[1] = (int32_t)(v[1] - v[2] - v[3] + b + d);
    outputs[2] = (int32_t)(a - c - v[12] - v[13] - v[14]);
    outputs[3] = (int32_t)(b - d - v[13] + v[14] + v[15]);
}

TILEWRIGHT_INTO uint32_t tilewright_sadd16(uint32_t a, uint32_t b)
{
    uint32_t sum;
    __asm__("sadd16 %0, %1, %2" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
}

/* One pair of inputs, one line of four rows, in place of the rows: (0 - 2), (1 + 2), (2 - 1), (1 - 3). */
TILEWRIGHT_INTO void tilewright_winograd_inputs(
    uint32_t *to, const int step, uint32_t first, uint32_t second, uint32_t third, uint32_t fourth)
{
    to[0] = tilewright_ssub16(first, third);
    to[step] = tilewright_sadd16(second, third);
    to[2 * step] = tilewright_ssub16(third, second);
    to[3 * step] = tilewright_ssub16(second, fourth);
}

#define TILEWRIGHT_WINOGRAD_STEP(instruction, s, t, u, v, w, x, y, z) \
    "ldrd %[a], %[b], [%[w]], #8\n\tldrd %[c], %[d], [%[x]], #8\n\t" \
    instruction "%[s0], %[c], %[a]" s instruction "%[t0], %[c], %[b]" t \
    instruction "%[s1], %[d], %[a]" u instruction "%[t1], %[d], %[b]" v \
    "ldrd %[c], %[d], [%[x]], #8\n\t" \
    instruction "%[s2], %[c], %[a]" w instruction "%[t2], %[c], %[b]" x \
    instruction "%[s3], %[d], %[a]" y instruction "%[t3], %[d], %[b]" z
#define TILEWRIGHT_WINOGRAD_FIRST \
    TILEWRIGHT_WINOGRAD_STEP("smuad ", "\n\t", "\n\t", "\n\t", "\n\t", "\n\t", "\n\t", "\n\t", "\n\t")
#define TILEWRIGHT_WINOGRAD_NEXT \
    TILEWRIGHT_WINOGRAD_STEP("smlad ", ", %[s0]\n\t", ", %[t0]\n\t", ", %[s1]\n\t", ", %[t1]\n\t", ", %[s2]\n\t", \
        ", %[t2]\n\t", ", %[s3]\n\t", ", %[t3]\n\t")
