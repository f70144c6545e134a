## Results of the channels from `c` on, `width` sums of which the last ones may be one too many.
<%def name="stored(sum, place, left, clamp, indent)">\
${indent}{
${indent}    const float32x4_t v = ${sum};
% if left is None:
${indent}    vstrwq_f32(${place}, ${clamp});
% else:
${indent}    vstrwq_p_f32(${place}, ${clamp}, vctp32q(${left}));
% endif
${indent}}
</%def>\
## All channels of four pixels, whose inputs are interleaved in `xs`, or lie at four `sources`.
<%def name="block(columns, inputs, pitch, places, clamp, indent, lines=False)">\
${indent}for (int c = 0; c < ${columns}; c += 4) {
${indent}    float32x4_t sums[4];
${indent}    weights = tilewright_mve_float_${"lines(sources" if lines else "block(xs"}, weights, ${inputs}, sums);
% for j, place in enumerate(places):
% if j == 0 or place > places[j - 1]:
${stored(f"sums[{j}]", plus("to", place * pitch) + " + c", f"{columns}u - (uint32_t)c" if columns % 4 else None, clamp, indent + "    ")}\
% endif
% endfor
${indent}}
</%def>\
## All channels of one row at `row`.
<%def name="row(columns, inputs, clamp, indent)">\
<%
rest = columns % 8
eights = columns if rest > 4 else columns - rest
%>\
% if eights:
${indent}for (int c = 0; c < ${eights}; c += 8) {
${indent}    float32x4_t sums[2];
${indent}    weights = tilewright_mve_float_eight(row, weights, ${inputs}, sums);
${stored("sums[0]", "to + c", None, clamp, indent + "    ")}\
${stored("sums[1]", "to + c + 4", f"{eights - 4}u - (uint32_t)c" if eights % 4 else None, clamp, indent + "    ")}\
${indent}}
% endif
% if eights < columns:
${indent}{
${indent}    float32x4_t sum;
${indent}    weights = tilewright_mve_float_four(row, weights, ${inputs}, &sum);
${stored("sum", plus("to", eights), f"{columns - eights}u" if columns % 4 else None, clamp, indent + "    ")}\
${indent}}
% endif
</%def>\
