<%
h, w = k.h, k.w
x_letter, y_letter = ("b" if k.x_bits == 8 else "h"), ("b" if k.y_bits == 8 else "h")
rows, columns = k.copied
shifted = "" if k.x_bits == 8 else "_shifted"
y_shifted = "" if k.y_bits == 8 else "_shifted"
signed = f"int{k.y_bits}_t"
y = "y" if k.y_type == signed else f"({signed} *)y"
elements = k.plane_rows * k.plane_columns
lanes = 128 // k.x_bits
taps = h.kernel * w.kernel

def load(at):
    if w.stride == 1:
        return f"vldr{x_letter}q_s32({plus('line', at)})"
    return f"vldr{x_letter}q_gather{shifted}_offset_s32({plus('line', at)}, apart)"
%>\
TILEWRIGHT_MVE void ${f.name}(${f.parameters})
{
    ${k.x_type} *const plane = scratch;
    const int32x4_t low = vdupq_n_s32(${k.low});
    const int32x4_t high = vdupq_n_s32(${k.high});
    const uint32x4_t places = vmulq_n_u32(vidupq_n_u32(0, 1), ${k.channels}u);
% if w.stride > 1:
    const uint32x4_t apart = vmulq_n_u32(vidupq_n_u32(0, 1), ${w.stride}u);
% endif
    for (int i = 0; i < ${-(-elements // lanes) * lanes}; i += ${lanes}) {
        vstr${x_letter}q_s${k.x_bits}(plane + i, vdupq_n_s${k.x_bits}(${k.zero}));
    }
    for (int channel = 0; channel < ${k.channels}; channel++) {
        const int32x4_t start = vdupq_n_s32(table[0]);
        const int32x4_t multiplier = vdupq_n_s32(table[1]);
        const int32_t addend = table[2];
        const int32_t shift = table[3];
        TILEWRIGHT_MVE_WRITTEN;
        for (int row = 0; row < ${rows}; row++) {
            const ${k.x_type} *const from = x + ${times("row", h.x_stride)} + channel;
            ${k.x_type} *const to = plane + ${times(f"({plus('row', h.pad)})", k.plane_columns)}${f" + {w.pad}" if w.pad else ""};
            for (int i = 0; i < ${columns}; i += 4) {
% if columns < 4:
                const mve_pred16_t some = vctp32q(${columns}u);
                vstr${x_letter}q_p_s32(to, vldr${x_letter}q_gather${shifted}_offset_z_s32(from, places, some), some);
% else:
                const int at = ${f"i < {columns - 4} ? i : {columns - 4}" if columns % 4 else "i"};
                vstr${x_letter}q_s32(to + at, vldr${x_letter}q_gather${shifted}_offset_s32(from + ${times("at", w.x_stride)}, places));
% endif
            }
        }
        TILEWRIGHT_MVE_WRITTEN;
        for (int oh = 0; oh < ${h.out}; oh++) {
            for (int i = 0; i < ${w.out}; i += 4) {
                const int at = ${f"i < {w.out - 4} ? i : {w.out - 4}" if w.out % 4 else "i"};
                const ${k.x_type} *const line = plane + ${times("oh", h.stride * k.plane_columns)} + ${times("at", w.stride)};
                ${k.y_type} *const to = y + (${times("oh", w.out)} + at) * ${k.channels} + channel;
                int32x4_t sum = start;
% for kh in range(h.kernel):
% for kw in range(w.kernel):
                sum = vmlaq_n_s32(sum, ${load(kh * h.dilation * k.plane_columns + kw * w.dilation)}, w[${kh * w.kernel + kw}]);
% endfor
% endfor
% if k.pre_shift:
                sum = vshlq_n_s32(sum, ${k.pre_shift});
% endif
                sum = vshlq_r_s32(vaddq_n_s32(vmulhq_s32(sum, multiplier), addend), shift);
                vstr${y_letter}q_scatter${y_shifted}_offset_s32(${y.replace("y", "to")}, places, vminq_s32(vmaxq_s32(sum, low), high));
            }
        }
        w += ${taps};
        table += 4;
    }
}
