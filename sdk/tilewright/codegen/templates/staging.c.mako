<% again = "another network has run" if m.settled else "the arena is another one" %>\
% if m.once and not (m.home or m.fast):
/* Say that the tiles of this network write over what others keep. */
static void ${m.name}(unsigned char *arena)
{
    (void)arena;
    ${m.settled} = NULL;
}
<% return STOP_RENDERING %>\
% endif
/* ${m.comment}${f", and again where {again}" if m.once else ""}. */
static void ${m.name}(unsigned char *arena)
{
    /* Byte there, byte at rest, bytes, and for runs in a stride: distance, runs, operand, store. */
    static const ${m.copies.struct.name} copies[${len(m.copies.rows)}] = {
% for line in m.copies.lines:
        ${line}
% endfor
    };
% if m.once and not m.settled:
    static const unsigned char *settled;
% endif
    unsigned char *const home[${len(m.home) + len(m.fast)}] = {
% for c in (*m.home, *m.fast):
        (unsigned char *)(uintptr_t)${c.source},
% endfor
    };
% if m.settled:
    if (${m.settled} == copies) {
        return;
    }
    ${m.settled} = copies;
% if not m.home:
    (void)arena;
% endif
% elif m.once:
    if (settled == arena) {
        return;
    }
    settled = arena;
% endif
% if m.home:
    tilewright_wait(tilewright_start(copies, 0, ${len(m.home)}, arena, home));
% endif
% if m.fast:
    tilewright_wait(tilewright_start(copies, ${len(m.home)}, ${len(m.home) + len(m.fast)}, ${m.fast_name}, home));
% endif
}
