<%
h, w, q = k.h, k.w, k.requantise
stride = 0 if k.pixels == 1 else k.depth if k.gather else k.x_stride
%>\
static void ${f.name}_block(const ${k.x_type} *x, const ${k.w_type} *w, int width, const int32_t *b, ${q.parameters}${k.y_type} *y)
{
    int32_t acc[4][16];
    ${k.products}(x, ${stride}, w, ${k.depth}, width, b, &acc[0][0]);
    for (int o = 0; o < width; o++) {
% for declaration in q.declarations("o"):
        ${declaration}
% endfor
        for (int p = 0; p < ${k.pixels}; p++) {
            int32_t code = ${q.code("acc[p][o]", "o", q.held)};
            code = code < ${q.low} ? ${q.low} : code;
            code = code > ${q.high} ? ${q.high} : code;
            y[${times("p", k.groups.all_results)} + o] = (${k.y_type})code;
        }
    }
}

% if k.gather:
static void ${f.name}_gather(const ${k.x_type} *x, int top, int left, ${k.x_type} *to)
{
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        const int row = top + ${times("kh", h.dilation)};
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const int column = left + ${times("kw", w.dilation)};
% if k.padded:
            if (row < 0 || row >= ${h.size} || column < 0 || column >= ${w.size}) {
                for (int i = 0; i < ${k.groups.channels}; i++) {
                    *to++ = ${k.zero};
                }
                continue;
            }
% endif
            const ${k.x_type} *from = x + ${times("row", h.x_stride)} + ${times("column", w.x_stride)};
            for (int i = 0; i < ${k.groups.channels}; i++) {
                *to++ = *from++;
            }
        }
    }
}

% endif
static void ${f.name}(${f.parameters})
{
% if k.gather:
    ${k.x_type} *const windows = scratch;
% endif
    for (int g = 0; g < ${k.groups.count}; g++) {
        for (int n = 0; n < ${k.results}; n += ${k.pixels}) {
            const int at = n < ${k.results - k.pixels} ? n : ${k.results - k.pixels};
% if k.gather:
            for (int p = 0; p < ${k.pixels}; p++) {
                ${f.name}_gather(${k.x_name} + ${times("g", k.groups.channels)}, ${plus(times(f"(at + p) / {w.out}", h.stride), -h.pad)}, ${plus(times(f"(at + p) % {w.out}", w.stride), -w.pad)}, windows + ${times("p", k.depth)});
            }
            const ${k.x_type} *const from = windows;
% else:
            const ${k.x_type} *const from = ${k.x_name} + ${times("at", k.x_stride)} + ${times("g", k.groups.channels)};
% endif
            for (int o = 0; o < ${k.groups.results}; o += 16) {
                const int channel = ${times("g", k.groups.results)} + o;
                ${f.name}_block(from, w + ${times("channel", k.depth)}, ${k.groups.results} - o < 16 ? ${k.groups.results} - o : 16, ${k.bias_name} + channel, ${q.arguments("channel")}y + ${times("at", k.groups.all_results)} + channel);
            }
        }
    }
}
