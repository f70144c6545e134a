<%text>static void ${f.name}(${f.parameters})
{
    for (int i = 0; i < ${k.elements}; i++) {
        y[i] = x[i] * </%text>${name}<%text>_clamp(x[i] + 3.0f, 0.0f, 6.0f) / 6.0f;
    }
}
</%text>\
