<%namespace name="tiles" file="/tiles_f32.c.mako"/>\
<%
h, w, tile = k.h, k.w, k.slopes
rows, columns, back = k.back_h, k.back_w, k.back_tile
slopes = [f"g{kh}_{kw}" for kh in range(h.kernel) for kw in range(w.kernel)]
%>\
/* The slopes of one channel. */
TILEWRIGHT_FLOAT void ${f.name}_slopes(const float *x, const float *dy, float *sums)
{
% for name in slopes:
    float ${name} = 0.0f;
% endfor
    for (int ow = 0; ow < ${w.out}; ow += ${tile.columns}) {
        for (int oh = 0; oh < ${h.out}; oh++) {
${tiles.places(h, w, tile)}\
            const float *const d = dy + oh * ${w.out} + ow;
% for column in range(tile.columns):
            const float d${column} = d[${column}];
% endfor
            float v;
${tiles.rows(tile)}\
        }
    }
% for name in slopes:
    sums[${loop.index}] = ${name};
% endfor
}

% if k.back:
/* The gradient of neighbouring columns of all channels, from that of the results and the turned weights. */
TILEWRIGHT_FLOAT void ${f.name}_tile(const float *x, const float *w, ${"const float *kept, " if k.masked else ""}${"const float *more, " if k.add else ""}float *to, int oh, int ow)
{
${tiles.places(rows, columns, back)}\
    const float *const end = w + ${k.channels * k.taps};
    do {
% for column in range(back.columns):
        float s${column} = ${f"more[{column}]" if k.add else "0.0f"};
% endfor
        float v;
${tiles.rows(back)}\
% for column in range(back.columns):
        to[${column}] = ${f"kept[{column}] > 0 ? s{column} : 0.0f" if k.masked else f"s{column}"};
% endfor
        w += ${k.taps};
        to += ${rows.out * columns.out};
% if k.masked:
        kept += ${rows.out * columns.out};
% endif
% if k.add:
        more += ${rows.out * columns.out};
% endif
${tiles.onward(back, rows.size * columns.size, 0)}\
    } while (w != end);
}

% endif
static void ${f.name}(${f.parameters})
{
% if k.back:
    float *const turned = scratch;
% endif
    for (int channel = 0; channel < ${k.channels}; channel++) {
        float sums[${k.taps}];
        ${f.name}_slopes(x + channel * ${h.size * w.size}, ${k.gradient} + channel * ${h.out * w.out}, sums);
        for (int tap = 0; tap < ${k.taps}; tap++) {
            const int at = channel * ${k.taps} + tap;
% if k.back:
            turned[channel * ${k.taps} + ${k.taps - 1} - tap] = ${k.weights}[at];
% endif
            ${k.following}[at] = TILEWRIGHT_MULTIPLY_ADD(${k.rate}, sums[tap], ${k.target});
        }
    }
% if k.back:
    for (int oh = 0; oh < ${rows.out}; oh++) {
        for (int ow = 0; ow < ${columns.out}; ow += ${back.columns}) {
            const int at = oh * ${columns.out} + ow;
            ${f.name}_tile(${k.gradient}, turned, ${"x + at, " if k.masked else ""}${"add + at, " if k.add else ""}dx + at, oh, ow);
        }
    }
% endif
}
