<%
lane = " + i" if k.few else ""
h, w, g, q = k.h, k.w, k.groups, k.requantise
results = g.results
last = max(k.pixels - 4, 0)
at_once = 1 if k.few else 4
whole = not k.padded and k.by_runs and h.kernel == h.out == 1
copy = f"tilewright_mve_halves_{k.copy}"
group = f" + {times('g', g.channels)}" if g.count > 1 else ""
count = min(k.pixels, 4)
%>\
% if not whole:
/* Copies the inputs of one pixel of a group as halves. */
TILEWRIGHT_MVE void ${f.name}_pixel(const ${k.x_type} *x, int16_t *to, int top, int left)
{
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        const int ih = top + ${times("kh", h.dilation)};
% if k.by_runs:
        if (${f"ih >= 0 && ih < {h.size} && " if k.padded else ""}left >= 0 && left <= ${w.size - w.kernel}) {
            ${copy}(x + ${times("ih", h.x_stride)} + ${times("left", w.x_stride)}, to, ${k.row});
            to += ${k.row};
            continue;
        }
% endif
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const int iw = left + ${times("kw", w.dilation)};
            if (ih >= 0 && ih < ${h.size} && iw >= 0 && iw < ${w.size}) {
                ${copy}(x + ${times("ih", h.x_stride)} + ${times("iw", w.x_stride)}, to, ${g.channels});
            } else {
                for (int i = 0; i < ${g.channels}; i += 8) {
                    vstrhq_p_s16(to + i, vdupq_n_s16(${k.zero}), vctp16q((uint32_t)(${g.channels} - i)));
                }
            }
            to += ${g.channels};
        }
    }
}

% endif
TILEWRIGHT_MVE_WIDE_${"ROW" if k.few else "SUMS"}(${f.name}_sums, TILEWRIGHT_MVE_WIDE_${k.weights}, "${k.first}")

/* Codes of the sums of a block. */
% if k.vectors:
TILEWRIGHT_MVE void ${f.name}_codes(const int32_t *sums, const int32_t *table, ${k.y_type} *y, int channels)
{
    static const uint32_t places[8] = {${", ".join(f"{place}u" for place in k.places)}};
    const int32x4_t low = vdupq_n_s32(${q.low});
    const int32x4_t high = vdupq_n_s32(${q.high});
% if not k.own:
    const int32x4_t addend = vdupq_n_s32(${q.addend.c("0")});
    const int32x4_t left = vdupq_n_s32(-${q.shift.c("0")});
% endif
    for (int i = 0; i < channels; i += 4) {
        const int32x4_t codes = tilewright_mve_codes(vldrwq_s32(sums + i), vldrwq_s32(table${lane}), ${f"vldrwq_s32(table + {k.lanes}{lane}), vldrwq_s32(table + {2 * k.lanes}{lane})" if k.own else "addend, left"}, low, high);
        const uint32x4_t at = vldrwq_u32(places + i);
% if k.y_bits == 16:
        vstrhq_scatter_shifted_offset_p_s32((int16_t *)y, at, codes, vctp32q((uint32_t)channels - (uint32_t)i));
% else:
        vstrbq_scatter_offset_p_s32((int8_t *)y, at, codes, vctp32q((uint32_t)channels - (uint32_t)i));
% endif
    }
}
% else:
TILEWRIGHT_MVE void ${f.name}_codes(const int32_t *sums, ${q.parameters}${k.y_type} *y, int channels)
{
    for (int o = 0; o < channels; o++) {
% for declaration in q.declarations("o"):
        ${declaration}
% endfor
        for (int p = 0; p < ${1 if k.few else count}; p++) {
            int32_t code = ${q.code(f"sums[p * {k.block} + o]", "o", q.held)};
            code = code < ${q.low} ? ${q.low} : code;
            code = code > ${q.high} ? ${q.high} : code;
            y[${times("p", g.all_results)} + o] = (${k.y_type})code;
        }
    }
}
% endif

static void ${f.name}(${f.parameters})
{
    int16_t *const patch = scratch;
    static const uint16_t firsts[${len(k.starts)}] = {${", ".join(map(str, k.starts))}};
    for (int p = 0; p < ${k.pixels}; p += ${at_once}) {
        const int at = ${f"p < {last} ? p : {last}" if k.pixels % 4 and last and not k.few else "p"};
        for (int g = 0; g < ${g.count}; g++) {
% if k.few:
            const int j = 0;
            {
% else:
            const int16_t *sources[4];
            for (int j = 0; j < 4; j++) {
                sources[j] = patch + ${f"(j < {k.pixels - 1} ? j : {k.pixels - 1})" if k.pixels < 4 else "j"} * ${k.depth};
            }
            for (int j = 0; j < ${count}; j++) {
% endif
% if whole:
                ${copy}(${k.x_name} + ${times("(at + j)", w.stride * w.x_stride)}, patch + j * ${k.depth}, ${k.row});
% else:
                const int oh = (at + j) / ${w.out};
                const int ow = at + j - oh * ${w.out};
                ${f.name}_pixel(${k.x_name}${group}, patch + j * ${k.depth}, ${plus(times("oh", h.stride), -h.pad)}, ${plus(times("ow", w.stride), -w.pad)});
% endif
            }
            ${k.y_type} *const to = y + ${times("at", g.all_results)}${f" + {times('g', results)}" if g.count > 1 else ""};
            for (int c = 0; c < ${len(k.starts)}; c++) {
                int32_t sums[8];
                const int block = ${f"{times('g', len(k.starts))} + c" if g.count > 1 else "c"};
                const uint32_t *const weights = stream + ${times("block", k.block_words)};
% if k.few:
                ${f.name}_sums(patch, patch + ${k.depth}, weights, sums);
% else:
                ${f.name}_sums(sources, patch + ${k.depth}, weights, sums);
% endif
% if k.vectors:
                ${f.name}_codes(sums, table + ${times("block", k.lanes * (3 if k.own else 1))}, to + firsts[c], ${min(results, 8) if k.few else 2 * count});
% else:
                const int channel = ${f"{times('g', results)} + " if g.count > 1 else ""}firsts[c];
                ${f.name}_codes(sums, ${q.arguments("channel")}to + firsts[c], ${min(results, k.block)});
% endif
            }
        }
    }
}
