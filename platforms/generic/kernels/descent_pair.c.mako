<%namespace name="parts" file="/descent_parts.c.mako"/>\
<%namespace name="tiles" file="/depthwise_parts_f32.c.mako"/>\
<%
n, planes, own = k.names, k.depthwise, k.before
%>\
% if planes:
<%
h, w, last = planes.h, planes.w, planes.w.out - k.forward.tile.columns
rows, columns = planes.back_h, planes.back_w
%>\
${tiles.tile(f.name + "_forward", k.forward)}
${tiles.slopes(f.name, planes)}
${tiles.back(f.name, planes)}
% endif
static void ${f.name}(${f.parameters})
{
    static const tilewright_product products[${len(k.terms)}] = {
% for t in k.terms:
        ${parts.product(t)},
% endfor
    };
    const tilewright_descent_term terms[${len(k.terms)}] = {
% for t in k.terms:
        ${parts.term(t)},
% endfor
    };
    float *const planes = (float *)scratch + ${k.between};
    float *const slopes = (float *)scratch + ${k.slopes}, *const gathered = (float *)scratch + ${k.gathered};
% if own:
    tilewright_product before = ${parts.product(own.term)};
    const tilewright_descent_term first = ${parts.term(own.term)};
    const tilewright_descent last = {1, ${own.block}, ${own.term.product.channels}, 0, ${own.term.product.strides[1]}, ${k.rate}, ${k.decay}, x, NULL, NULL, slopes, gathered};
% else:
    float *const turned = (float *)scratch + ${k.turned};
% endif
    for (int channel = 0; channel < ${k.channels}; channel += ${k.block}) {
% if own:
        const int count = ${k.channels} - channel < ${k.block} ? ${k.channels} - channel : ${k.block};
        before.results = count;
        const tilewright_gathering gathering = {
            0, 1, ${int(k.rectified)}, ${int(not k.rectified)}, ${own.at_once}, -INFINITY, INFINITY, x, ${n.weights} + channel * first.at_w.result,
            ${f"{n.bias} + channel" if n.bias else "NULL"}, planes, gathered};
        tilewright_convolve(&gathering, &before);
% else:
        const int count = ${k.block};
        const float *const under = x + channel * ${k.x_plane};
        for (int oh = 0; oh < ${h.out}; oh++) {
            for (int ow = 0; ow < ${w.out}; ow += ${k.forward.tile.columns}) {
                ${f.name}_forward_tile(under, ${n.weights} + channel * ${planes.taps}, ${f"{n.bias} + channel, " if n.bias else ""}planes, oh, ${f"ow < {last} ? ow : {last}" if w.out % k.forward.tile.columns else "ow"});
            }
        }
% endif
        tilewright_descent_term moved[${len(k.terms)}];
        for (int at = 0; at < ${len(k.terms)}; at++) {
            moved[at] = tilewright_descend_from(&terms[at], channel);
        }
        const tilewright_descent descent = {
            ${len(k.terms)}, ${k.block}, count, ${int(k.rectified)}, ${k.apart}, ${k.rate}, ${k.decay}, planes,
            ${f"{n.add} + channel * {k.plane}" if n.add else "NULL"}, planes, slopes, gathered};
        tilewright_descend_block(&descent, products, moved, 0, count);
        for (int c = 0; c < count; c++) {
            const float *const plane = planes + c * ${k.plane};
            float sum = 0.0f;
            for (int at = 0; at < ${k.plane}; at++) {
                sum += plane[at];
            }
            ${n.sums}[channel + c] = sum;
        }
% if own:
        tilewright_descent_term rest = first;
        rest.target += channel * first.at_target.result;
        rest.next += channel * first.at_next.result;
        tilewright_descend(&last, &before, &rest);
% else:
        for (int c = 0; c < count; c++) {
            float sums_of_taps[${planes.taps}];
            ${f.name}_slopes(under + c * ${k.x_plane}, planes + c * ${k.plane}, sums_of_taps);
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
% endif
    }
}
