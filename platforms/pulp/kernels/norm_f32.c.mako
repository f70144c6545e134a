<%
eights = k.width // 8 * 8
squares, factor, last = (1, 2, 3) if k.centred else (0, 1, 2)
%>\
<%def name="parts(name, note, element)">\
/* ${note}, of every eighth element as NumPy adds up to 128; of some of the eight. */
TILEWRIGHT_EACH_ROUNDED static inline void ${f.name}_${name}(const float *from${", float mean" if "mean" in element("from[i]") else ""}, float *sums, int first, int step)
{
    TILEWRIGHT_EACH_ROUNDED_BODY
    for (int n = first; n < ${8 if eights else 0}; n += step) {
        float sum = ${element("from[n]")};
        for (int i = n + 8; i < ${eights}; i += 8) {
            sum += ${element("from[i]")};
        }
        sums[n] = sum;
    }
}

</%def>\
<%def name="total(to, sums, element, indent)">\
% if eights:
${indent}${to} = ((${sums}[0] + ${sums}[1]) + (${sums}[2] + ${sums}[3])) + ((${sums}[4] + ${sums}[5]) + (${sums}[6] + ${sums}[7]));
% endif
% for n in range(eights, k.width):
${indent}${to} += ${element(f"from[{n}]")};
% endfor
${indent}${to} = ${to} ${k.over_width};
</%def>\
% if k.centred:
${parts("sums", "Sums", lambda element: element)}\
% endif
${parts("squares", "Sums of squares", k.square)}\
% if k.few:
/* The eight sums of a row are shared among the cores, one makes its factor, and they share its elements. */
% else:
/* Rows are shared among the cores. */
% endif
TILEWRIGHT_EACH_ROUNDED TILEWRIGHT_PHASES void ${f.name}(${f.parameters})
{
    TILEWRIGHT_EACH_ROUNDED_BODY
% if k.few:
    const int first_row = 0, last_row = tile->rows, part = core, parts = cores;
% else:
    const int first_row = tilewright_share(tile->rows, core, cores), part = 0, parts = 1;
    const int last_row = phase == ${last} ? tilewright_share(tile->rows, core + 1, cores) : 0;
% endif
    for (int row = first_row; row < last_row; row++) {
        const float *const from = x + row * ${k.width};
        float *const to = y + row * ${k.width};
        float *const sums = (float *)scratch + ${18 if k.centred else 9} * ${"row" if k.few else "core"};
% if k.centred:
        if (${k.when(0)}) {
            ${f.name}_sums(from, sums, part, parts);
        }
% endif
        if (${k.when(squares)}) {
% if k.centred:
            float mean = 0.0f;
${total("mean", "sums", lambda element: element, " " * 12)}\
            if (part == 0) {
                sums[17] = mean;
            }
            ${f.name}_squares(from, mean, sums + 9, part, parts);
% else:
            ${f.name}_squares(from, sums, part, parts);
% endif
        }
        if (${k.when(factor, "row == core")}) {
% if k.centred:
% if k.width > eights:
            const float mean = sums[17];
% endif
            const float *const squares = sums + 9;
% else:
            const float *const squares = sums;
% endif
            float mean_square = 0.0f;
${total("mean_square", "squares", k.square, " " * 12)}\
            sums[8] = tilewright_float(0x3F800000u) / sqrtf(mean_square + tilewright_float(${k.epsilon}));
        }
        if (phase == ${last}) {
            const float factor = sums[8]${", mean = sums[17]" if k.centred else ""};
            const int end = tilewright_share(${k.width}, part + 1, parts);
            for (int i = tilewright_share(${k.width}, part, parts); i < end; i++) {
                to[i] = ${"(from[i] - mean)" if k.centred else "from[i]"} * factor * scale[i]${" + bias[i]" if k.bias else ""};
            }
        }
    }
}
