static void ${f.name}(${f.parameters})
{
    tilewright_row${k.form}(x, w, table, ${"y" if k.y_type == "int8_t" else "(int8_t *)y"}, ${k.depth // 4}, ${k.columns}, codes);
}
