<%namespace name="tiles" file="/depthwise_parts_f32.c.mako"/>\
<%
n, planes, s = k.names, k.depthwise, k.signed
h, w, last = planes.h, planes.w, planes.w.out - k.forward.tile.columns
rows, columns = planes.back_h, planes.back_w
%>\
${tiles.tile(f.name + "_forward", k.forward)}
${tiles.slopes(f.name, planes)}
${tiles.back(f.name, planes)}
static void ${f.name}(${f.parameters})
{
    float *const planes = (float *)scratch, *const turned = planes + ${k.block * k.plane};
    const tilewright_signed behind_planes = {
        ${s.weights}, ${s.target}, ${s.gradient}, ${s.following}, signs, ${s.results}, ${k.plane}, ${s.sign_bytes}, ${int(k.rectified)},
        ${", ".join(str(step) for step in s.steps)}, ${k.rate}, ${k.decay}, turned + ${k.block * planes.taps}};
    for (int channel = 0; channel < ${k.channels}; channel += ${k.block}) {
        const float *const under = x + channel * ${k.x_plane};
        for (int oh = 0; oh < ${h.out}; oh++) {
            for (int ow = 0; ow < ${w.out}; ow += ${k.forward.tile.columns}) {
                ${f.name}_forward_tile(under, ${n.weights} + channel * ${planes.taps}, ${f"{n.bias} + channel, " if n.bias else ""}planes, oh, ${f"ow < {last} ? ow : {last}" if w.out % k.forward.tile.columns else "ow"});
            }
        }
        tilewright_signed_back(&behind_planes, planes, ${k.block}, channel);
        for (int c = 0; c < ${k.block}; c++) {
            const float *const plane = planes + c * ${k.plane};
            float sum = 0.0f, sums_of_taps[${planes.taps}];
            for (int at = 0; at < ${k.plane}; at++) {
                sum += plane[at];
            }
            ${n.sums}[channel + c] = sum;
            ${f.name}_slopes(under + c * ${k.x_plane}, plane, sums_of_taps);
            for (int tap = 0; tap < ${planes.taps}; tap++) {
                const int at = (channel + c) * ${planes.taps} + tap;
                turned[c * ${planes.taps} + ${planes.taps - 1} - tap] = ${n.weights}[at];
                ${n.following}[at] = TILEWRIGHT_MULTIPLY_ADD(${k.rate}, sums_of_taps[tap], ${k.left});
            }
        }
        for (int oh = 0; oh < ${rows.out}; oh++) {
            for (int ow = 0; ow < ${columns.out}; ow += ${planes.back_tile.columns}) {
                const int at = oh * ${columns.out} + ow;
                ${f.name}_tile(planes, turned, ${"under + at, " if planes.masked else ""}dx + channel * ${k.x_plane} + at, oh, ow);
            }
        }
    }
}
