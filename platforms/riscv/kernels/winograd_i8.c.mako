<%
h, w, q = k.h, k.w, k.requantise
channels, width = k.channels, 4
%>\
${k.attribute} static void ${f.name}_input(const ${k.x_type} *x, int32_t stride, int16_t *v)
{
    for (int i = 0; i < ${channels}; i++) {
        const ${k.x_type} *r0 = x + i;
        const ${k.x_type} *r1 = r0 + stride;
        const ${k.x_type} *r2 = r1 + stride;
        const ${k.x_type} *r3 = r2 + stride;
% for c in range(4):
        const int32_t a${c} = r0[${c * channels}], b${c} = r1[${c * channels}], c${c} = r2[${c * channels}], d${c} = r3[${c * channels}];
        const int32_t t0_${c} = a${c} - c${c}, t1_${c} = b${c} + c${c}, t2_${c} = c${c} - b${c}, t3_${c} = b${c} - d${c};
% endfor
% for r in range(4):
        v[${(4 * r) * 4}] = (int16_t)(t${r}_0 - t${r}_2);
        v[${(4 * r + 1) * 4}] = (int16_t)(t${r}_1 + t${r}_2);
        v[${(4 * r + 2) * 4}] = (int16_t)(t${r}_2 - t${r}_1);
        v[${(4 * r + 3) * 4}] = (int16_t)(t${r}_1 - t${r}_3);
% endfor
        v += 64;
    }
}

static void ${f.name}_edge(const ${k.x_type} *x, int top, int left, ${k.x_type} *to)
{
    for (int row = top; row < top + 4; row++) {
        for (int column = left; column < left + 4; column++) {
            const bool inside = row >= 0 && row < ${h.size} && column >= 0 && column < ${w.size};
            for (int i = 0; i < ${channels}; i++) {
                *to++ = inside ? x[${times("(" + times("row", w.size) + " + column)", channels)} + i] : ${k.zero};
            }
        }
    }
}

${k.attribute} static void ${f.name}_products(const int16_t *v, const int16_t *w, int32_t *sums)
{
    const int16_t *const last = v + 64;
    do {
        const int16_t *vr = v;
        const int16_t *const end = ${plus("w", channels * width)};
% for p in range(4):
        int32_t ${", ".join(f"s{p}_{o} = 0" for o in range(width))};
% endfor
        do {
            TILEWRIGHT_HIDE(vr);
% for u in range(4):
            {
                const int32_t ${", ".join(f"w{o} = w[{u * width + o}]" for o in range(width))};
                int32_t x;
% for p in range(4):
                x = vr[${u * 64 + p}];
% for o in range(width):
                s${p}_${o} += x * w${o};
% endfor
% endfor
            }
% endfor
            vr += 256;
            w += ${4 * width};
        } while (w != end);
% for p in range(4):
% for o in range(width):
        sums[${p * width + o}] = s${p}_${o};
% endfor
% endfor
        sums += 16;
        v += 4;
    } while (v != last);
}

${k.attribute} static void ${f.name}_output(const int32_t *sums, const int32_t *b, ${q.parameters}${k.y_type} *y)
{
    int32_t code;
% for name, value in q.of_layer:
    int32_t ${name} = ${value};
    TILEWRIGHT_HIDE(${name});
% endfor
    for (int o = 0; o < ${width}; o++) {
        const int32_t start = *b++;
% for c_type, name in q.of_channel:
        const ${c_type} ${name} = *${name}s++;
% endfor
        const int32_t *m = sums + o;
        ${k.y_type} *to = y + o;
        for (int p = 0; p < 4; p++) {
% for c in range(4):
            const int32_t u0_${c} = m[${c * 16}] + m[${(4 + c) * 16}] + m[${(8 + c) * 16}];
            const int32_t u1_${c} = m[${(4 + c) * 16}] - m[${(8 + c) * 16}] - m[${(12 + c) * 16}];
% endfor
            int32_t acc;
% for r in range(2):
% for c, text in ((0, "u{r}_0 + u{r}_1 + u{r}_2"), (1, "u{r}_1 - u{r}_2 - u{r}_3")):
            acc = ((${text.format(r=r)}) >> 2) + start;
            code = ${q.code("acc")};
            code = code < low ? low : code;
            code = code > high ? high : code;
            to[${(r * w.out + c) * k.out_channels}] = (${k.y_type})code;
% endfor
% endfor
            m += 4;
            to += ${2 * k.out_channels};
        }
    }
}

static void ${f.name}(${f.parameters})
{
    int32_t *const sums = scratch;
    int16_t *const inputs = (int16_t *)(sums + 256);
    ${k.x_type} *const patch = (${k.x_type} *)(${plus("inputs", 64 * channels)});
    for (int oh = 0; oh < ${h.out}; oh += 2) {
        const int top = oh - ${h.pad};
        for (int n = 0; n < ${k.tiles}; n += 4) {
            const int at = n < ${k.tiles - 4} ? n : ${k.tiles - 4};
            for (int p = 0; p < 4; p++) {
                const int left = 2 * (at + p) - ${w.pad};
                if (top >= 0 && top + 4 <= ${h.size} && left >= 0 && left + 4 <= ${w.size}) {
                    ${f.name}_input(x + ${times("(" + times("top", w.size) + " + left)", channels)}, ${w.size * channels}, inputs + p);
                } else {
                    ${f.name}_edge(x, top, left, patch);
                    ${f.name}_input(patch, ${4 * channels}, inputs + p);
                }
            }
            for (int o = 0; o < ${k.out_channels}; o += ${width}) {
                ${f.name}_products(inputs, w + ${times("o", 16 * channels)}, sums);
                ${f.name}_output(sums, b + o, ${q.arguments("o")}y + (${times("oh", w.out)} + 2 * at) * ${k.out_channels} + o);
            }
        }
    }
}
