<%
y = "y" if k.y_type == "int8_t" else "(int8_t *)y"
%>\
static void ${f.name}(${f.parameters})
{
    for (int m = 0; m < ${k.rows}; m++) {
        const int8_t *const row = a + m * ${k.inputs};
        int8_t *const to = ${y} + m * ${k.columns};
% if k.eights:
        tilewright_mve_row(row, (const int8_t *)w, table, to, ${k.depth // 16}, ${k.eights}, codes);
% endif
% if k.eights < k.columns:
        tilewright_mve_fours(row, (const int8_t *)w${f" + {k.eights * k.depth}" if k.eights else ""}, table${f" + {4 * k.eights}" if k.eights else ""}, to${f" + {k.eights}" if k.eights else ""}, ${k.inputs}, ${k.columns - k.eights}, codes);
% endif
    }
}
