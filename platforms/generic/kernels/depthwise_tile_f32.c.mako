<%
h, w, tile = k.h, k.w, k.tile
last = w.out - tile.columns
%>\
TILEWRIGHT_FLOAT void ${f.name}_tile(const float *x, const float *w, float *y, int oh, int ow)
{
    const int top = ${plus(times("oh", h.stride), -h.pad)};
    const int left = ${plus(times("ow", w.stride), -w.pad)};
% for name, condition in tile.tests:
    const bool ${name} = ${condition};
% endfor
% for pointer in tile.pointers:
    ${"const " if pointer.readonly else ""}float *${pointer.name} = ${pointer.start};
% endfor
    int channels = ${k.channels};
    do {
% for store in tile.stores:
        float ${store.total} = w[0];
% endfor
        float v;
% for row in tile.rows:
        ${f"if ({row.test}) " if row.test else ""}{
% for name, at in row.weights:
            const float ${name} = w[${at}];
% endfor
% for load in row.loads:
            v = ${f"{load.test} ? {load.pointer}[{load.offset}] : 0.0f" if load.test else f"{load.pointer}[{load.offset}]"};
% for total, weight in load.products:
            ${total} = TILEWRIGHT_MULTIPLY_ADD(v, ${weight}, ${total});
% endfor
% endfor
        }
% endfor
% for store in tile.stores:
        v = ${store.total};
        ${store.pointer}[${store.offset}] = ${k.clamp};
% endfor
        w = &w[${k.per_channel}];
% for pointer in tile.pointers:
        ${pointer.name}++;
        TILEWRIGHT_FORGET(${pointer.name});
% endfor
        channels--;
    } while (channels > 0);
}

${f.storage} void ${f.name}(${f.parameters})
{
    for (int oh = 0; oh < ${h.out}; oh++) {
        for (int ow = 0; ow < ${w.out}; ow += ${tile.columns}) {
            ${f.name}_tile(x, w, y, oh, ${f"ow < {last} ? ow : {last}" if w.out % tile.columns else "ow"});
        }
    }
}
