<%def name="places(h, w, tile)">\
<% read = " ".join([*(condition for _, condition in tile.tests), *(pointer.start for pointer in tile.pointers)]) %>\
% if "top" in read:
    const int top = ${plus(times("oh", h.stride), -h.pad)};
% endif
% if "left" in read:
    const int left = ${plus(times("ow", w.stride), -w.pad)};
% endif
% for name, condition in tile.tests:
    const bool ${name} = ${condition};
% endfor
% for pointer in tile.pointers:
    ${"const " if pointer.readonly else ""}float *${pointer.name} = ${pointer.start};
% endfor
</%def>\
<%def name="rows(tile)">\
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
</%def>\
<%def name="onward(tile, read, written)">\
% for pointer in tile.pointers:
<% step = read if pointer.readonly else written %>\
        ${f"{pointer.name}++" if step == 1 else f"{pointer.name} = &{pointer.name}[{step}]"};
        TILEWRIGHT_FORGET(${pointer.name});
% endfor
</%def>\
