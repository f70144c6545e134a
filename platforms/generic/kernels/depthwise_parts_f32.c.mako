<%namespace name="tiles" file="/tiles_f32.c.mako"/>\
<%doc>Functions of one tile of depthwise planes: results, slopes of the taps, and the gradient of the operand.</%doc>\
<%def name="tile(name, k)">\
<%
h, w, tile = k.h, k.w, k.tile
%>\
TILEWRIGHT_FLOAT void ${name}_tile(const float *x, const float *w, ${"const float *b, " if k.bias else ""}float *y, int oh, int ow)
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
</%def>\
<%def name="slopes(name, k)">\
<%
h, w, tile = k.h, k.w, k.slopes
sums = [f"g{kh}_{kw}" for kh in range(h.kernel) for kw in range(w.kernel)]
meeting = {gradient for row in tile.rows for load in row.loads for _, gradient in load.products}
%>\
/* The slopes of one channel. */
TILEWRIGHT_FLOAT void ${name}_slopes(const float *x, const float *dy, float *sums)
{
% for total in sums:
    float ${total} = 0.0f;
% endfor
    for (int ow = 0; ow < ${w.out}; ow += ${tile.columns}) {
        for (int oh = 0; oh < ${h.out}; oh++) {
${tiles.places(h, w, tile)}\
            const float *const d = dy + oh * ${w.out} + ow;
% for column in range(tile.columns):
% if f"d{column}" in meeting:
            const float d${column} = d[${column}];
% endif
% endfor
            float v;
${tiles.rows(tile)}\
        }
    }
% for total in sums:
    sums[${loop.index}] = ${total};
% endfor
}
</%def>\
<%def name="back(name, k)">\
<%
rows, columns, back = k.back_h, k.back_w, k.back_tile
%>\
/* The gradient of neighbouring columns of all channels, from that of the results and the turned weights. */
TILEWRIGHT_FLOAT void ${name}_tile(const float *x, const float *w, ${"const float *kept, " if k.masked else ""}${"const float *more, " if k.add else ""}float *to, int oh, int ow)
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
</%def>\
