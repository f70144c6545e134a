<%
d = k.depthwise
h, w, q = d.h, d.w, d.requantise
%>\
% for block in d.blocks:
${d.attribute} ${f.storage} void ${f.name}_pixel${block.width}(const ${d.x_type} *const rows[${h.kernel}], int left, int c, ${f"const {d.x_type} *{f.restrict}pad, " if d.padded else ""}const ${d.w_type} *${f.restrict}w, const int32_t *${f.restrict}b, ${q.parameters}${d.y_type} *${f.restrict}y)
{
    int32_t acc[${block.width}];
    for (int o = 0; o < ${block.width}; o++) {
        acc[o] = b[o];
    }
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const int column = left + ${times("kw", w.dilation)};
% if d.padded:
            const bool inside = rows[kh] != NULL && column >= 0 && column < ${w.size};
            const ${d.x_type} *${f.restrict}xr = inside ? rows[kh] + ${times("column", w.x_stride)} + c : pad;
% else:
            const ${d.x_type} *${f.restrict}xr = rows[kh] + ${times("column", w.x_stride)} + c;
% endif
            const ${d.w_type} *${f.restrict}wr = w + ${times("(" + times("kh", w.kernel) + " + kw)", d.channels)};
            for (int o = 0; o < ${block.width}; o++) {
                acc[o] += (int32_t)xr[o] * wr[o];
            }
        }
    }
    for (int o = 0; o < ${block.width}; o++) {
        int32_t code = ${q.code("acc[o]", "o")};
        code = code < ${q.low} ? ${q.low} : code;
        code = code > ${q.high} ? ${q.high} : code;
        y[o] = (${d.y_type})code;
    }
}

% endfor
${f.storage} void ${f.name}(${f.parameters})
{
    ${d.x_type} *const kept = scratch;
    for (int oh = 0; oh < ${h.out}; oh++) {
        const ${d.x_type} *rows[${h.kernel}];
        (void)memcpy(kept + oh % ${k.kept} * ${k.row}, x + ${times("oh", k.row)}, ${k.row}u * sizeof *x);
        for (int kh = 0; kh < ${h.kernel}; kh++) {
            const int row = oh - ${h.pad} + kh;
            rows[kh] = row < 0 || row >= ${h.size} ? NULL : row <= oh ? kept + row % ${k.kept} * ${k.row} : x + ${times("row", k.row)};
        }
        for (int ow = 0; ow < ${w.out}; ow++) {
% for block in d.blocks:
            for (int c = ${block.first}; c < ${block.first + block.count * block.width}; c += ${block.width}) {
                ${f.name}_pixel${block.width}(rows, ${plus(times("ow", w.stride), -w.pad)}, c, ${"pad, " if d.padded else ""}w + c, b + c, ${q.arguments("c")}y + ${times("oh", k.row)} + ${times("ow", d.channels)} + c);
            }
% endfor
        }
    }
}
