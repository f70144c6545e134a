<%
image = k.h.out * k.w.out
last = image - k.pixels
weights = "w" if k.w_type == "int8_t" else "(const int8_t *)w"
given = "x" if k.x_type == "uint8_t" else "(const uint8_t *)x"
%>\
static void ${f.name}(${f.parameters})
{
    static const tilewright_window_axis rows = {${k.h.size}, ${k.h.kernel}, ${k.h.stride}, ${k.h.dilation}, ${k.h.pad}};
    static const tilewright_window_axis columns = {${k.w.size}, ${k.w.kernel}, ${k.w.stride}, ${k.w.dilation}, ${k.w.pad}};
    tilewright_dsp_product p = {${", ".join("0x80808080u" if v == 0x80 and i in (5, 9) else str(v) for i, v in enumerate(k.shape))}};
    uint8_t *const windows = scratch;
    uint32_t *const packed = (uint32_t *)(void *)(windows + ${k.at[0]});
    p.a_zero = ${k.zeros[0]};
    p.b_zero = ${k.zeros[1]};
    for (int image = 0; image < ${k.images}; image++) {
        for (int pixel = 0; pixel < ${image}; pixel += ${k.pixels}) {
            const int first = pixel < ${last} ? pixel : ${last};
            for (int j = 0; j < ${k.pixels}; j++) {
                tilewright_window(${given} + image * ${k.inputs * k.h.size * k.w.size}, windows + j * ${k.depth}, ${k.inputs},
                                  &rows, &columns, (first + j) / ${k.w.out}, (first + j) % ${k.w.out}, (uint8_t)${k.fill});
            }
            for (int channel = 0; channel < ${k.channels}; channel += ${k.chunk}) {
                const int n = channel < ${k.channels - k.chunk} ? channel : ${k.channels - k.chunk};
                int32_t *const to = y + (image * ${k.channels} + n) * ${image} + first;
                tilewright_product_pack(${weights} + n * ${k.depth}, packed, &p);
                tilewright_product${k.at_once}_sums((const int8_t *)windows, packed, packed + ${(k.at[1] - k.at[0]) // 4}, (int8_t *)to, 0, &p);
            }
        }
    }
}
