<%
h, w = k.h, k.w
words = k.channels // 2
line = k.columns * words
kind = "_unsigned" if k.unsigned else ""
zeros = (k.zero_point & 0xFF) * 0x01010101
twice = (2 * k.zero_point & 0xFFFF) * 0x10001
x = "x" if k.x_type == "int8_t" else "(const int8_t *)x"
first, last = w.pad, min(w.pad + w.size, k.columns)
tall = h.out % 2 == 1
wide = w.out < 2 * k.tile_columns
%>\
/* Sixteen sums of four tiles and two channels. */
TILEWRIGHT_ONCE void ${f.name}_sums(const uint32_t *x, const uint32_t *w, int32_t *sums)
{
#if defined(TILEWRIGHT_IN_C)
    for (int i = 0; i < 16; i++) {
        for (int j = 0; j < 8; j++) {
            sums[8 * i + j] = 0;
            for (int n = 0; n < ${words}; n++) {
                sums[8 * i + j] = tilewright_smlad(x[(i * ${words} + n) * 4 + j / 2], w[(i * ${words} + n) * 2 + j % 2], sums[8 * i + j]);
            }
        }
    }
#else
    const int32_t *const end = sums + 128;
    int32_t *to = sums;
    int32_t s0, s1, s2, s3, t0, t1, t2, t3;
    uint32_t a, b, c, d;
    __asm__ volatile(
        "1:\n\t" TILEWRIGHT_WINOGRAD_FIRST
        ".rept ${words - 1}\n\t" TILEWRIGHT_WINOGRAD_NEXT ".endr\n\t"
        "ldr %[a], %[to]\n\tldr %[b], %[end]\n\tstrd %[s0], %[t0], [%[a]], #8\n\tstrd %[s1], %[t1], [%[a]], #8\n\t"
        "strd %[s2], %[t2], [%[a]], #8\n\tstrd %[s3], %[t3], [%[a]], #8\n\tstr %[a], %[to]\n\t"
        "cmp %[a], %[b]\n\tbne.w 1b\n\t"
        : [s0] "=&r"(s0), [t0] "=&r"(t0), [s1] "=&r"(s1), [t1] "=&r"(t1), [s2] "=&r"(s2), [t2] "=&r"(t2),
          [s3] "=&r"(s3), [t3] "=&r"(t3), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d), [x] "+r"(x),
          [w] "+r"(w), [to] "+m"(to)
        : [end] "m"(end)
        : "cc", "memory");
#endif
}

TILEWRIGHT_ONCE void ${f.name}(${f.parameters})
{
    uint32_t *const rows = scratch;
    uint32_t *const tiles = rows + ${4 * line};
    int32_t *const sums = (int32_t *)(tiles + ${16 * words * 4});
    for (int i = 0; i < ${line}; i++) {
        rows[i] = 0;
        rows[${line} + i] = ${twice}u;
        rows[${2 * line} + i] = 0;
        rows[${3 * line} + i] = 0;
    }
    for (int t = 0; t < ${k.tile_rows}; t++) {
        const int top = 2 * t - ${h.pad};
        const int8_t *s = ${x} + top * ${h.x_stride};
        const int in0 = top >= 0 && top < ${h.size};
        const int in1 = top + 1 >= 0 && top + 1 < ${h.size};
        const int in2 = top + 2 < ${h.size};
        const int in3 = top + 3 < ${h.size};
        uint32_t *to = rows + ${first * words};
        for (const uint32_t *const end = rows + ${last * words}; to != end; to += 2, s += 4) {
            const uint32_t v0 = in0 ? tilewright_load(s) : ${zeros}u;
            const uint32_t v1 = in1 ? tilewright_load(s + ${h.x_stride}) : ${zeros}u;
            const uint32_t v2 = in2 ? tilewright_load(s + ${2 * h.x_stride}) : ${zeros}u;
            const uint32_t v3 = in3 ? tilewright_load(s + ${3 * h.x_stride}) : ${zeros}u;
            tilewright_winograd_inputs(to, ${line}, tilewright_even${kind}(v0), tilewright_even${kind}(v1), tilewright_even${kind}(v2), tilewright_even${kind}(v3));
            tilewright_winograd_inputs(to + 1, ${line}, tilewright_odd${kind}(v0), tilewright_odd${kind}(v1), tilewright_odd${kind}(v2), tilewright_odd${kind}(v3));
        }
        for (int b = 0; b < ${k.tile_columns}; b += 4) {
            const int tile = b < ${k.tile_columns - 4} ? b : ${k.tile_columns - 4};
            for (int i = 0; i < 4; i++) {
                const uint32_t *from = rows + i * ${line} + 2 * tile * ${words};
                uint32_t *v = tiles + i * ${4 * words * 4};
                for (const uint32_t *const end = from + ${words}; from != end; from++, v += 4) {
                    uint32_t d0 = from[0];
                    uint32_t d1 = from[${words}];
                    TILEWRIGHT_UNROLL
                    for (int j = 0; j < 4; j++) {
                        const uint32_t d2 = from[(2 * j + 2) * ${words}];
                        const uint32_t d3 = from[(2 * j + 3) * ${words}];
                        tilewright_winograd_inputs(v + j, ${4 * words}, d0, d1, d2, d3);
                        d0 = d2;
                        d1 = d3;
                    }
                }
            }
            const uint32_t *weights = w;
            const int32_t *pair = table;
            const int32_t addend = codes[0] * 4;
            const int32_t shift = codes[1] + 2;
            int8_t *const corner = y + (2 * t * ${w.out} + 2 * tile) * ${k.out_channels};
            for (int c = 0; c < ${k.out_channels}; c += 2, pair += 4) {
                ${f.name}_sums(tiles, weights, sums);
                weights += ${16 * words * 2};
                for (int j = 0; j < 4; j++) {
% if wide:
                    const int right = 2 * (tile + j) + 1 < ${w.out};
                    if (2 * (tile + j) >= ${w.out}) {
                        break;
                    }
% endif
% if tall:
                    const int below = 2 * t + 1 < ${h.out};
% endif
                    TILEWRIGHT_UNROLL
                    for (int o = 0; o < 2; o++) {
                        int8_t *const out = corner + 2 * j * ${k.out_channels} + c + o;
                        int32_t found[4];
                        tilewright_winograd_outputs(sums + 2 * j + o, 8, (uint32_t)pair[2 * o], found);
                        const int32_t multiplier = pair[2 * o + 1];
% for n, (at, guards) in enumerate(((0, []), (k.out_channels, ["right"] * wide), (w.out * k.out_channels, ["below"] * tall), ((w.out + 1) * k.out_channels, ["right"] * wide + ["below"] * tall))):
% if guards:
                        if (${" && ".join(guards)})
% endif
                        {
                            out[${at}] = (int8_t)tilewright_saturate(tilewright_scale(found[${n}], multiplier, addend) >> shift);
                        }
% endfor
                    }
                }
            }
        }
    }
}
