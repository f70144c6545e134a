<%
y = "y" if k.y_type == "int8_t" else "(int8_t *)y"
%>\
static void ${f.name}(${f.parameters})
{
    for (int m = 0; m < ${k.rows}; m++) {
        const int8_t *row = a + m * ${k.inputs};
% if k.inputs != k.depth:
        tilewright_mve_run(scratch, row, ${k.inputs});
        row = scratch;
% endif
        tilewright_mve_row(row, (const int8_t *)w, table, ${y} + m * ${k.columns}, ${k.depth // 16}, ${k.columns}, codes);
    }
}
