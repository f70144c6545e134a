<%namespace name="parts" file="/depthwise_parts_f32.c.mako"/>\
<%
h, w, tile = k.h, k.w, k.tile
last = w.out - tile.columns
%>\
${parts.tile(f.name, k)}
${f.storage} void ${f.name}(${f.parameters})
{
% if k.blocks:
    const float *const end = w + ${k.blocks * k.channels * k.per_channel};
    for (; w != end; w += ${k.channels * k.per_channel}, ${f"b += {k.channels}, " if k.bias else ""}x += ${k.channels * k.x_step}, y += ${k.channels * k.y_step}) {
        tilewright_copied(scratch, x, ${k.channels * k.x_step});
        for (int oh = 0; oh < ${h.out}; oh++) {
            for (int ow = 0; ow < ${w.out}; ow += ${tile.columns}) {
                ${f.name}_tile(scratch, w, ${"b, " if k.bias else ""}y, oh, ${f"ow < {last} ? ow : {last}" if w.out % tile.columns else "ow"});
            }
        }
    }
% else:
    for (int oh = 0; oh < ${h.out}; oh++) {
        for (int ow = 0; ow < ${w.out}; ow += ${tile.columns}) {
            ${f.name}_tile(x, w, ${"b, " if k.bias else ""}y, oh, ${f"ow < {last} ? ow : {last}" if w.out % tile.columns else "ow"});
        }
    }
% endif
}
