<%doc>Functions and statements of products of two tensors of codes: columns as words, and the sums of rows.</%doc>\
<%def name="pack(f, k)">\
/* Packs four columns, of which those behind the last repeat it; the start of each. */
static void ${f.name}_pack(const unsigned char *b, uint32_t *to, int32_t *starts, int columns)
{
% if k.a_zero:
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
% endif
#ifdef TILEWRIGHT_XPULP
    if (columns >= 4) {
        register const void *from __asm__("a0") = b;
        register int step __asm__("a1") = columns;
        register uint32_t *into __asm__("a2") = to;
% for n in range(4 if k.a_zero else 0):
        register int32_t t${n} __asm__("s${2 + n}") = 0;
% endfor
        __asm__ volatile(
${k.packing}
            : "+r"(from), "+r"(into)${"".join(f', "+r"(t{n})' for n in range(4 if k.a_zero else 0))} : "r"(step)
            : "memory", "a3", "a4", "a5", "a6", "a7", "t0", "t1", "t2", "t3", "t4", "t5", "t6");
% for n in range(4 if k.a_zero else 0):
        s${n} = t${n};
% endfor
    }
    for (int i = columns >= 4 ? ${k.depth} : 0; i < ${k.depth}; i += 4) {
#else
    for (int i = 0; i < ${k.depth}; i += 4) {
#endif
        for (int n = 0; n < 4; n++) {
            const unsigned char *const from = b + (n < columns ? n : columns - 1);
            uint32_t word = 0;
            for (int j = 0; j < 4; j++) {
                word |= (uint32_t)from[j * columns] << (8 * j);
            }
            to[n] = word${k.flips};
        }
% for n in range(4 if k.a_zero else 0):
        s${n} = tilewright_dot(s${n}, to[${n}], 0x01010101u);
% endfor
        b += 4 * columns;
        to += 4;
    }
% for n in range(4):
    starts[${n}] = ${f"{-k.a_zero} * (s{n} - ({k.depth * k.b_zero}))" if k.a_zero else 0};
% endfor
}
</%def>\
<%def name="lines(k)">\
<% dot = "tilewright_unsigned_dot" if k.a_type == "uint8_t" else "tilewright_dot" %>\
#ifdef TILEWRIGHT_XPULP
        {
            register const void *from __asm__("a0") = left;
            register int32_t *to __asm__("a1") = lines;
            register int rows __asm__("a2") = tile->rows;
            register uint32_t ones __asm__("a3") = 0x01010101u;
            __asm__ volatile(
${k.row_sums}
                : "+r"(from), "+r"(to) : "r"(rows), "r"(ones) : "memory", "a4", "t0", "t1", "t2", "t3");
        }
#else
        for (int m = 0; m < tile->rows; m++) {
            int32_t sum = 0;
            for (int i = 0; i < ${k.depth}; i += 4) {
                sum = ${dot}(sum, tilewright_word(left + m * ${k.depth} + i), 0x01010101u);
            }
            lines[m] = ${-k.b_zero} * sum;
        }
#endif
</%def>\
<%def name="portable(k, indent, last, base)">\
<% q = k.requantise %>\
${indent}for (int m = row; m < ${last}; m++) {
${indent}    for (int n = 0; n < width; n++) {
${indent}        int32_t acc = ${base}[n]${" + lines[m]" if k.b_zero else ""};
${indent}        for (int i = 0; i < ${k.depth}; i++) {
${indent}            acc += left[m * ${k.depth} + i] * ((const signed char *)(packed + i / 4 * 4 + n))[i % 4];
${indent}        }
${indent}        int32_t code = ${q.code("acc")};
${indent}        code = code < ${q.low} ? ${q.low} : code;
${indent}        code = code > ${q.high} ? ${q.high} : code;
${indent}        result[m * tile->columns + column + n] = (${k.y_type})code;
${indent}    }
${indent}}
</%def>\
