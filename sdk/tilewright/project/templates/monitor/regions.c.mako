<%
given = "&" + m.name + "_monitor_context" if m.context else ""
ports = [(p, True) for p in m.inputs] + [(p, False) for p in m.outputs]
%>\
typedef struct {
    const uint8_t *bytes;
    uint8_t *writable; /* the same bytes, 0 where they are only read */
    uint32_t size_bytes;
} region;

/* What may be read or written, by number; no bytes where there is no such region. */
static region region_of(uint32_t number)
{
    region one = {0, 0, 0};
    switch (number) {
    case ${protocol.MODEL_SHA256}:
        one.bytes = model_sha256;
        one.size_bytes = sizeof model_sha256;
        break;
#ifdef ${m.upper}_TRACE
    case ${protocol.LAYER_CYCLES}:
        one.bytes = (const uint8_t *)layer_cycles;
        one.size_bytes = sizeof layer_cycles;
        break;
#endif
% if m.arena_bytes and m.context:
    case ${protocol.ARENA}:
        one.bytes = (const uint8_t *)&${m.name}_monitor_context;
        one.size_bytes = ${m.arena_bytes}u;
        break;
% elif m.arena_bytes:
#ifndef ${m.upper}_EXTERNAL_ARENA
    case ${protocol.ARENA}:
        one.bytes = ${m.name}_arena;
        one.size_bytes = ${m.upper}_ARENA_BYTES;
        break;
#endif
% endif
% if m.state_bytes:
    case ${protocol.STATE}:
        one.bytes = (const uint8_t *)${m.name}_state(${given + ", " if given else ""}0);
        one.size_bytes = ${m.state_bytes}u;
        break;
% endif
% for number, (p, writable) in enumerate(ports, protocol.FIRST_PORT):
    case ${number}:
% if writable:
        one.writable = (uint8_t *)${p.call.replace("&context", given)};
        one.bytes = one.writable;
% else:
        one.bytes = (const uint8_t *)${p.call.replace("&context", given)};
% endif
        one.size_bytes = ${p.stem}_BYTES;
        break;
% endfor
    default:
        break;
    }
    if (one.bytes == 0) {
        one.size_bytes = 0;
    }
    return one;
}

