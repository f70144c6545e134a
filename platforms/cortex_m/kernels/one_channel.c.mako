<%
q, h, w, C = k.requantise, k.h, k.w, k.channels
rows_cut = h.inner_first > 0 or h.inner_last < h.out
columns_cut = w.inner_first > 0 or w.inner_last < w.out
unsigned = "_unsigned" if k.cast else ""
sum_of = f"tilewright_one_run{unsigned}" if k.at_once > 1 else "tilewright_mve_one_run"
by_runs = w.dilation == 1
once = "TILEWRIGHT_ONCE" if k.at_once > 1 else "TILEWRIGHT_MVE"
together = k.at_once > 1 and w.inner_last - w.inner_first >= k.at_once
run = k.columns * C
first = "first_row" if rows_cut else "0"
behind = "row_behind" if rows_cut else str(h.kernel)
%>\
<%def name="limited(acc, to)">\
int32_t code = ${q.code(acc, "0")};
                code = code < ${q.low} ? ${q.low} : code;
                ${to} = (${k.y_type})(code > ${q.high} ? ${q.high} : code);\
</%def>\
${once} void ${f.name}(${f.parameters})
{
% if together:
    static const tilewright_one_walk walk = {${run}, ${w.stride * w.x_stride}, ${h.dilation * h.x_stride - run}, ${w.kernel * C - run}};
% endif
    for (int oh = 0; oh < ${h.out}; oh++) {
% if h.x_stride or rows_cut:
        const int top = ${plus(times("oh", h.stride), -h.pad)};
% endif
        const int8_t *const row = ${k.cast}${k.x_name} + ${times("top", h.x_stride)};
        int32_t start = ${k.start};
% if rows_cut:
        const int first_row = tilewright_pool_first(top, ${h.dilation}), row_behind = tilewright_pool_last(top, ${h.size}, ${h.kernel}, ${h.dilation});
% if k.lost:
        for (int tap = 0; tap < ${h.kernel * w.kernel}; tap++) {
            start += tap < first_row * ${w.kernel} || tap >= row_behind * ${w.kernel} ? lost[tap] : 0;
        }
% endif
% endif
        for (int ow = 0; ow < ${w.out}; ow++) {
            const int left = ${plus(times("ow", w.stride), -w.pad)};
% if together:
            if (${f"ow >= {w.inner_first} && " if w.inner_first > 0 else ""}ow <= ${w.inner_last - k.at_once}) {
                int32_t sums[4] = {start, start, start, start};
                const int8_t *const inputs = row + ${times(first, h.dilation * h.x_stride)} + ${times("left", w.x_stride)};
% if by_runs:
                tilewright_one_four${unsigned}(inputs, w + ${times(first, w.kernel * C)}, ${f"{behind} - {first}" if rows_cut else behind}, &walk, sums);
% else:
                for (int kw = 0; kw < ${w.kernel}; kw++) {
                    tilewright_one_four${unsigned}(inputs + ${times("kw", w.dilation * w.x_stride)}, w + (${times(first, w.kernel)} + kw) * ${C}, ${f"{behind} - {first}" if rows_cut else behind}, &walk, sums);
                }
% endif
                for (int i = 0; i < 4; i++) {
                    ${limited("sums[i]", "*y++")}
                }
                ow += 3;
                continue;
            }
% endif
            int32_t acc = start;
% if columns_cut:
            const int from = tilewright_pool_first(left, ${w.dilation}), to = tilewright_pool_last(left, ${w.size}, ${w.kernel}, ${w.dilation});
% if k.lost:
            if (to - from < ${w.kernel}) {
                for (int kh = ${first}; kh < ${behind}; kh++) {
                    for (int kw = 0; kw < ${w.kernel}; kw++) {
                        acc += kw < from || kw >= to ? lost[${times("kh", w.kernel)} + kw] : 0;
                    }
                }
            }
% endif
% else:
            const int from = 0, to = ${w.kernel};
% endif
            for (int kh = ${first}; kh < ${behind}; kh++) {
                const int8_t *const inputs = row + ${times("kh", h.dilation * h.x_stride)} + (left + ${times("from", w.dilation)}) * ${w.x_stride};
                const int8_t *const weights = w + (${times("kh", w.kernel)} + from) * ${C};
% if by_runs:
                acc = ${sum_of}(inputs, weights, ${times("(to - from)", C)}, acc);
% else:
                for (int kw = 0; kw < to - from; kw++) {
                    acc = ${sum_of}(inputs + ${times("kw", w.dilation * w.x_stride)}, weights + ${times("kw", C)}, ${C}, acc);
                }
% endif
            }
            {
                ${limited("acc", "*y++")}
            }
        }
    }
}
