<%
whole, rest = k.columns // 4 * 4, k.columns % 4
kind = f"{'_unsigned' if k.unsigned else ''}{'_to_unsigned' if k.unsigned_result else ''}"
a = "a" if k.x_type == "int8_t" else "(const int8_t *)a"
y = "y" if k.y_type == "int8_t" else "(int8_t *)y"
%>\
TILEWRIGHT_ONCE void ${f.name}(${f.parameters})
{
    tilewright_columns_frame frame = {${a}, ${y} + ${whole or rest}, codes[0]};
% if whole and rest:
    const uint32_t *const more = tilewright_columns4${kind}(${k.inputs}, ${k.shift}, w, ${y}, &frame);
    frame.last += ${rest};
    (void)tilewright_columns${rest}${kind}(${k.inputs}, ${k.shift}, more, ${y} + ${whole}, &frame);
% else:
    (void)tilewright_columns${4 if whole else rest}${kind}(${k.inputs}, ${k.shift}, w, ${y}, &frame);
% endif
}
