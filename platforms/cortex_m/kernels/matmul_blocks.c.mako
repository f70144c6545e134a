<%
steps = k.sums * k.size
last = k.depth - (k.sums - 1) * k.size
zero = k.zero
%>\
/* ${k.rows} rows of ${k.depth} by ${k.columns} columns of four bits, ${k.size} products in a sum. */
${f.storage} void ${f.name}(${f.parameters})
{
    tilewright_blocks_part *const parts = (tilewright_blocks_part *)scratch;
    int32_t *const row = (int32_t *)scratch + ${4 * k.sums};
    for (int r = 0; r < ${k.rows}; r++, a += ${k.depth}, y += ${k.columns}) {
        int near = 1;
        for (int s = 0; s < ${k.sums}; s++) {
            const int there = ${str(k.size) if last == k.size else f"s < {k.sums - 1} ? {k.size} : {last}"};
            near &= tilewright_blocks_row(
                a + s * ${k.size}, row + s * ${k.size}, ${k.size}, there, ${k.largest}.0f, parts + s);
% if k.zero is not None:
            parts[s].start = tilewright_blocks_start(parts[s].sum, ${zero}, ${zero});
% endif
        }
        const uint32_t *w = (const uint32_t *)(const void *)codes;
        if (near == 0) {
            for (int n = 0; n < ${k.columns}; n++) {
                float total = ${"bias[n]" if k.bias else "0.0f"};
                for (int i = 0; i < ${k.depth}; i++) {
                    const int at = n / 4 * ${4 * k.blocks} + i / ${k.size * k.per_scale} * 4 + n % 4;
                    const uint32_t word = w[n / 4 * ${steps // 2} + i / 4 * 2 + n % 4 / 2];
                    const int upper = n % 2;
                    const int code = (int)(word >> ((i % 4 * 2 + upper * 7) % 8 * 4) & 15u) ^ upper * 8;
% if k.zero is None:
                    const int zero = zero_point[at / 2] >> at % 2 * 4 & 15;
                    total += a[i] * ((float)(code - zero) * scale[at]);
% else:
                    total += a[i] * ((float)(code - ${zero}) * scale[at]);
% endif
                }
                y[n] = total;
            }
            continue;
        }
        const float *by = scale;
% if k.zero is None:
        const uint8_t *zeros = zero_point;
% endif
        for (int n = 0; n < ${k.columns}; n += 4) {
            float t0 = 0.0f, t1 = 0.0f, t2 = 0.0f, t3 = 0.0f;
            const int32_t *from = row;
% if k.per_scale == 1:
            for (const tilewright_blocks_part *part = parts; part < parts + ${k.sums}; part++, by += 4) {
% else:
            for (const tilewright_blocks_part *part = parts; part < parts + ${k.sums}; by += 4) {
            for (int more = ${k.per_scale}; more > 0 && part < parts + ${k.sums}; more--, part++) {
% endif
% if k.zero is None:
                uint64_t pairs[2] = {
                    tilewright_blocks_start(part->sum, zeros[0] & 15, zeros[0] >> 4),
                    tilewright_blocks_start(part->sum, zeros[1] & 15, zeros[1] >> 4),
                };
% else:
                uint64_t pairs[2] = {part->start, part->start};
% endif
                tilewright_blocks_sum${k.size}(&from, &w, pairs);
                t0 += (float)tilewright_blocks_lower(pairs[0]) * (part->scale * by[0]);
                t1 += (float)tilewright_blocks_upper(pairs[0]) * (part->scale * by[1]);
                t2 += (float)tilewright_blocks_lower(pairs[1]) * (part->scale * by[2]);
                t3 += (float)tilewright_blocks_upper(pairs[1]) * (part->scale * by[3]);
% if k.per_scale > 1:
            }
% endif
% if k.zero is None:
                zeros += 2;
% endif
            }
% if k.columns % 4 == 0:
% for c in range(4):
            y[n + ${c}] = t${c}${f" + bias[n + {c}]" if k.bias else ""};
% endfor
% else:
            const float totals[4] = {t0, t1, t2, t3};
            for (int c = 0; c < 4 && n + c < ${k.columns}; c++) {
                y[n + c] = totals[c]${" + bias[n + c]" if k.bias else ""};
            }
% endif
        }
    }
}
