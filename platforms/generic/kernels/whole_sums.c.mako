<%
def walk(depth, statements):
    """C of the loops over what is added up for one result."""
    pads = ["    " * (depth + n) for n in range(len(k.added) + 1)]
    heads = [f"{pads[n]}for (int j{n} = 0; j{n} < {line.count}; j{n}++) {{" for n, line in enumerate(k.added)]
    ends = [f"{pads[n]}}}" for n in reversed(range(len(k.added)))]
    return "\n".join([*heads, *(pads[-1] + one for one in statements), *ends])
at = " + ".join(times(f"j{n}", line.x) for n, line in enumerate(k.added)) or "0"
%>\
${f.storage} void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${k.rows}; row++) {
        const float *const from = ${added("x", k.x_start)};
        ${k.total_type} total = 0;
        uint32_t top, largest = 0;
        float v = 0.0f;
${walk(2, [f"const uint32_t doubled = tilewright_whole_bits(from + {at}) << 1;", "largest = doubled > largest ? doubled : largest;"])}
        top = largest >> 24;
        if (top > ${k.lowest}u && top < ${k.highest}u) {
${walk(3, [f"total += {k.whole.taken}(tilewright_whole_bits(from + {at}){k.whole.size}, top);"])}
            v = ${k.whole.finished};
        } else if (largest != 0u) {
${walk(3, [f"const float a = from[{at}];", f"v += {k.whole.term};"])}
% if k.whole.exact != "v":
            v = ${k.whole.exact};
% endif
        } else {
            v = 0.0f; /* all are zero */
        }
        y[${k.y_start}] = ${k.clamp};
    }
}
