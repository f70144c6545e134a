<%
whole, tail = divmod(k.columns, k.width)
%>\
static void ${f.name}(${f.parameters})
{
    for (int m = 0; m < ${k.rows}; m += ${k.at_once}) {
% if k.at_once > 1:
        const int at = ${f"m < {k.rows - k.at_once} ? m : {k.rows - k.at_once}" if k.rows % k.at_once else "m"};
        const float *sources[${k.at_once}];
        for (int j = 0; j < ${k.at_once}; j++) {
            sources[j] = a + (at + j) * ${k.inputs};
        }
<%
call = f"tilewright_float_block{k.at_once}(sources, 1, {k.inputs}, "
%>\
% if whole:
        ${"const float *const weights = " if tail else ""}${call}w, ${whole}, ${k.low}, ${k.high}, y + at * ${k.columns}, ${k.columns});
% endif
% if tail:
        float rest[${k.at_once * k.width}];
        ${call}${"weights" if whole else "w"}, 1, ${k.low}, ${k.high}, rest, ${k.width});
        for (int j = 0; j < ${k.at_once}; j++) {
            (void)memcpy(y + (at + j) * ${k.columns} + ${k.columns - tail}, rest + j * ${k.width}, ${4 * tail});
        }
% endif
% else:
        const float *weights = w;
        for (int column = 0; column < ${k.columns}; column += ${k.width}) {
            float sums[${k.width}];
            weights = tilewright_float_row${k.width}(a + m * ${k.inputs}, weights, ${k.inputs}, sums);
            float *const to = y + m * ${k.columns} + column;
            for (int o = 0; o < ${f"({k.columns} - column < {k.width} ? {tail} : {k.width})" if tail else k.width}; o++) {
                const float v = sums[o];
                to[o] = ${k.clamp};
            }
        }
% endif
    }
}
