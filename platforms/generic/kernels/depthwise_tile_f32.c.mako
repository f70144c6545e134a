<%namespace name="tiles" file="/tiles_f32.c.mako"/>\
<%
h, w, tile = k.h, k.w, k.tile
last = w.out - tile.columns
%>\
TILEWRIGHT_FLOAT void ${f.name}_tile(const float *x, const float *w, ${"const float *b, " if k.bias else ""}float *y, int oh, int ow)
{
${tiles.places(h, w, tile)}\
    int channels = ${k.channels};
    do {
% for store in tile.stores:
        float ${store.total} = ${k.start};
% endfor
        float v;
${tiles.rows(tile)}\
% for store in tile.stores:
        v = ${store.total};
        ${store.pointer}[${store.offset}] = ${k.clamp};
% endfor
        w = &w[${k.per_channel}];
% if k.bias:
        b++;
% endif
${tiles.onward(tile, k.x_step, k.y_step)}\
        channels--;
    } while (channels > 0);
}

${f.storage} void ${f.name}(${f.parameters})
{
% if k.blocks:
    const float *const end = w + ${k.blocks * k.channels * k.per_channel};
    for (; w != end; w += ${k.channels * k.per_channel}, ${f"b += {k.channels}, " if k.bias else ""}x += ${k.channels * k.x_step}, y += ${k.channels * k.y_step}) {
        memcpy(scratch, x, ${4 * k.channels * k.x_step});
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
