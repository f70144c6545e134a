<%namespace name="parts" file="/depthwise_parts_f32.c.mako"/>\
<%
h, w = k.tiles.h, k.tiles.w
rows, columns, back = k.tiles.back_h, k.tiles.back_w, k.tiles.back_tile
%>\
${parts.slopes(f.name, k.tiles)}
% if k.tiles.back:
${parts.back(f.name, k.tiles)}
% endif
static void ${f.name}(${f.parameters})
{
% if k.tiles.back:
    float *const turned = scratch;
% endif
    for (int channel = 0; channel < ${k.tiles.channels}; channel++) {
        float sums[${k.tiles.taps}];
        ${f.name}_slopes(x + channel * ${h.size * w.size}, ${k.gradient} + channel * ${h.out * w.out}, sums);
        for (int tap = 0; tap < ${k.tiles.taps}; tap++) {
            const int at = channel * ${k.tiles.taps} + tap;
% if k.tiles.back:
            turned[channel * ${k.tiles.taps} + ${k.tiles.taps - 1} - tap] = ${k.weights}[at];
% endif
            ${k.following}[at] = TILEWRIGHT_MULTIPLY_ADD(${k.rate}, sums[tap], ${k.target});
        }
    }
% if k.tiles.back:
    for (int oh = 0; oh < ${rows.out}; oh++) {
        for (int ow = 0; ow < ${columns.out}; ow += ${back.columns}) {
            const int at = oh * ${columns.out} + ow;
            ${f.name}_tile(${k.gradient}, turned, ${"x + at, " if k.tiles.masked else ""}${"add + at, " if k.tiles.add else ""}dx + at, oh, ow);
        }
    }
% endif
}
