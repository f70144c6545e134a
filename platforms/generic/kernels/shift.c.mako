<%
width = k.left + k.taken
source, target, update = (0, k.taken, 0) if k.first else (k.taken, 0, k.left)
def at(name, offset):
    return f"{name} + outer * {width}" + (f" + {offset}" if offset else "")
blocks, rest = divmod(k.left, 4)
%>\
static void ${f.name}(${f.parameters})
{
% if not k.left:
    (void)x;
% endif
    for (int outer = 0; outer < ${k.outer}; outer++) {
% if k.left:
        const ${k.c_type} *const from = ${at("x", source)};
        ${k.c_type} *const to = ${at("y", target)};
% endif
% if k.first:
% for i in range(rest):
        to[${k.left - 1 - i}] = from[${k.left - 1 - i}];
% endfor
% if blocks:
        for (int i = ${4 * blocks - 4}; i >= 0; i -= 4) {
            const ${k.c_type} a = from[i], b = from[i + 1], c = from[i + 2], d = from[i + 3];
            to[i + 3] = d;
            to[i + 2] = c;
            to[i + 1] = b;
            to[i] = a;
        }
% endif
% else:
% if blocks:
        for (int i = 0; i < ${4 * blocks}; i += 4) {
            const ${k.c_type} a = from[i], b = from[i + 1], c = from[i + 2], d = from[i + 3];
            to[i] = a;
            to[i + 1] = b;
            to[i + 2] = c;
            to[i + 3] = d;
        }
% endif
% for i in range(rest):
        to[${k.left - rest + i}] = from[${k.left - rest + i}];
% endfor
% endif
        for (int i = 0; i < ${k.taken}; i++) {
            ${f"y[outer * {width} + i" + (f" + {update}" if update else "") + "]"} = update[outer * ${k.taken} + i];
        }
    }
}
