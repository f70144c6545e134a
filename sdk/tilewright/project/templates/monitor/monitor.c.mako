<%
given = "&" + m.name + "_monitor_context" if m.context else ""
ports = [(p, True) for p in m.inputs] + [(p, False) for p in m.outputs]
%>\
/* Serves ${m.name} over a stream of bytes: see ${m.name}_monitor.h. ${m.tool}.
 *
 * A frame is [sequence, operation, arguments, CRC-32 of all before], little endian, stuffed as COBS says and ended by a
 * zero. The host asks, the board answers with the same sequence and operation | 0x80. A damaged frame is not answered:
 * the host asks again. A frame with the sequence of the one before is a repeat: the answer is sent again, nothing is
 * done twice. No length or offset of a frame is believed. */
#include "${m.name}_monitor.h"

#define FRAME ${m.upper}_MONITOR_FRAME
#define PATTERN 0xa5u
enum { VERSION = ${protocol.VERSION}, LAYERS = ${max(m.layers, 1)} };
enum { HELLO = ${protocol.HELLO}, READ, WRITE, PREPARE, RUN, GO_ON, ANSWER = 0x80, REFUSED = 0xff };
enum { NO_SESSION = ${protocol.NO_SESSION}, OUTSIDE, NOT_NOW, UNKNOWN };
enum { RESET_STATE = 1, POISON = 2 };      /* of PREPARE */
enum { PAINT = 1, PAUSE = 2 };             /* of RUN */
enum { DONE = 0, PAUSED = 1 };             /* what RUN and GO_ON answer first */
enum { TRACED = 1, CYCLES = 2, STACK = 4 }; /* what HELLO tells of the build */

typedef char ${m.name}_monitor_frame_is_32_to_254[FRAME >= 32 && FRAME <= 254 ? 1 : -1];

static const uint8_t model_sha256[32] = {
% for row in range(0, 64, 32):
    ${", ".join(f"0x{m.sha256[at : at + 2]}" for at in range(row, row + 32, 2))},
% endfor
};
static const ${m.name}_monitor_port *port;
static uint8_t frame[FRAME];
static uint8_t answer[FRAME];
static uint32_t answer_bytes;
static uint8_t open_session;
static uint8_t last_sequence;
static uint8_t ended;
static uint8_t run_flags;
static uint8_t asked; /* RUN or GO_ON: which of them the next stop or end answers */
#ifdef ${m.upper}_TRACE
static uint32_t layer_cycles[LAYERS];
static uint32_t layer_start;
void ${m.name}_trace(int instruction, int phase);
#endif
% if m.context:
${m.name}_context ${m.name}_monitor_context;
% endif
% if m.caller:
% for p, _ in ports:
static ${p.c_type} ${p.call}[${p.stem}_BYTES / sizeof(${p.c_type}) + 1];
% endfor
% endif
% if m.arena_bytes and not m.context:
#ifndef ${m.upper}_EXTERNAL_ARENA
extern unsigned char ${m.name}_arena[];
#endif
% endif

<%include file="/regions.c.mako"/>\
static uint32_t load(const uint8_t *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static uint32_t checksum(const uint8_t *bytes, uint32_t count)
{
    uint32_t sum = 0xffffffffu;
    int bit;
    while (count-- != 0u) {
        sum ^= *bytes++;
        for (bit = 0; bit < 8; bit++) {
            sum = sum >> 1 ^ (0xedb88320u & (0u - (sum & 1u)));
        }
    }
    return ~sum;
}

static void put(uint32_t value, uint32_t bytes)
{
    for (; bytes != 0u; bytes--) {
        answer[answer_bytes++] = (uint8_t)value;
        value >>= 8;
    }
}

static void send_answer(void)
{
    uint32_t at = 0;
    while (at <= answer_bytes) {
        uint32_t end = at;
        while (end < answer_bytes && answer[end] != 0u) {
            end++;
        }
        port->write_byte((uint8_t)(end - at + 1u));
        while (at < end) {
            port->write_byte(answer[at++]);
        }
        at = end + 1u;
    }
    port->write_byte(0);
    if (port->flush != 0) {
        port->flush();
    }
}

static void begin(uint32_t operation)
{
    answer_bytes = 0;
    put(last_sequence, 1);
    put(operation, 1);
}

static void finish(void)
{
    put(checksum(answer, answer_bytes), 4);
    send_answer();
}

static void refuse(uint32_t reason)
{
    begin(REFUSED);
    put(reason, 1);
    finish();
}

/* Undoes the stuffing in place; the bytes that come of it, 0 where it is no frame. */
static uint32_t unstuff(uint32_t count)
{
    uint32_t from = 0;
    uint32_t to = 0;
    while (from < count) {
        uint32_t end = from + frame[from];
        if (end > count) {
            return 0;
        }
        for (from++; from < end; from++) {
            frame[to++] = frame[from];
        }
        if (from < count) {
            frame[to++] = 0;
        }
    }
    return to;
}

static void hello(void)
{
    uint32_t told = 0;
    begin(HELLO | ANSWER);
    put(VERSION, 1);
#if defined(${m.upper}_TRACE) && !defined(${m.upper}_EXTERNAL_ARENA)
    told = TRACED;
#endif
    told |= port->cycles != 0 ? CYCLES : 0u;
    told |= port->stack_low != 0 ? STACK : 0u;
    put(told, 1);
    put(FRAME, 1);
    put(${m.upper}_BUILD, 4);
    finish();
}

/* READ: region, offset of 32 bits, bytes. WRITE: region, offset of 32 bits, then the bytes. */
static void transfer(uint32_t operation, uint32_t count)
{
    uint32_t wanted = operation == READ ? frame[7] : count - 7u;
    region one = region_of(frame[2]);
    uint32_t offset = load(&frame[3]);
    uint32_t i;
    if (offset > one.size_bytes || wanted > one.size_bytes - offset || (operation == WRITE && one.writable == 0) ||
        wanted > FRAME - 7u) {
        refuse(OUTSIDE);
        return;
    }
    begin(operation | ANSWER);
    for (i = 0; i < wanted; i++) {
        if (operation == READ) {
            put(one.bytes[offset + i], 1);
        } else {
            one.writable[offset + i] = frame[7u + i];
        }
    }
    finish();
}

static void prepare(uint32_t flags)
{
    int status = 0;
% if m.arena_bytes:
% if m.context:
    unsigned char *const arena = (unsigned char *)&${m.name}_monitor_context;
% else:
#ifndef ${m.upper}_EXTERNAL_ARENA
    unsigned char *const arena = ${m.name}_arena;
% endif
    if ((flags & POISON) != 0u) {
        uint32_t at;
        for (at = 0; at < ${m.arena_bytes}u; at++) {
            arena[at] = PATTERN;
        }
    }
% if not m.context:
#endif
% endif
% endif
% if m.state_bytes:
    if ((flags & RESET_STATE) != 0u) {
        status = ${m.name}_reset(${given});
    }
% endif
    (void)flags;
    begin(PREPARE | ANSWER);
    put((uint32_t)status, 4);
    finish();
}

/* One frame of so many bytes; 1 where it makes the network run, or go on where it is paused. */
static int take(uint32_t count, int paused)
{
    uint32_t operation;
    count = unstuff(count);
    if (count < 6u || checksum(frame, count - 4u) != load(&frame[count - 4u])) {
        return 0;
    }
    count -= 4u;
    operation = frame[1];
    if (operation == HELLO) {
        open_session = 1;
        last_sequence = frame[0];
        if (paused) { /* another host: the network runs to its end first, and this one asks again */
            run_flags = 0;
            return 1;
        }
        hello();
        return 0;
    }
    if (!open_session) {
        last_sequence = frame[0];
        refuse(NO_SESSION);
        return 0;
    }
    if (frame[0] == last_sequence) {
        send_answer();
        return 0;
    }
    last_sequence = frame[0];
    if ((operation == READ && count == 8u) || (operation == WRITE && count >= 7u)) {
        transfer(operation, count);
    } else if (operation == (paused ? GO_ON : RUN) && count == 3u) {
        run_flags = frame[2];
        asked = (uint8_t)operation;
        return 1;
    } else if (operation == PREPARE && count == 3u && !paused) {
        prepare(frame[2]);
    } else {
        refuse(operation >= HELLO && operation <= GO_ON ? NOT_NOW : UNKNOWN);
    }
    return 0;
}

static void serve(int paused)
{
    uint32_t count = 0;
    int byte;
    while ((byte = port->read_byte()) >= 0) {
        if (byte != 0) {
            if (count < FRAME) {
                frame[count] = (uint8_t)byte;
            }
            count += count <= FRAME ? 1u : 0u;
        } else {
            uint32_t complete = count <= FRAME ? count : 0u;
            count = 0;
            if (take(complete, paused) != 0) {
                return;
            }
        }
    }
    ended = 1;
    run_flags = 0;
}

static uint32_t cycles(void) { return port->cycles != 0 ? port->cycles() : 0u; }

#ifdef ${m.upper}_TRACE
void ${m.name}_trace(int instruction, int phase)
{
    if (port == 0) {
        return; /* the application runs the network by itself */
    }
    if (phase == 0) {
        layer_start = cycles();
        return;
    }
    layer_cycles[instruction] += cycles() - layer_start;
    if ((run_flags & PAUSE) != 0u) {
        begin(asked | (uint32_t)ANSWER);
        put(PAUSED, 1);
        put((uint32_t)instruction, 4);
        finish();
        serve(1);
    }
}
#endif

#if defined(__GNUC__) && (defined(__arm__) || defined(__aarch64__))
#define STACK_POINTER(here) __asm__ volatile("mov %0, sp" : "=r"(here))
#elif defined(__GNUC__) && defined(__riscv)
#define STACK_POINTER(here) __asm__ volatile("mv %0, sp" : "=r"(here))
#elif defined(__GNUC__) && defined(__AVR__)
#define STACK_POINTER(here) ((here) = (volatile unsigned char *)SP)
#include <avr/io.h>
#else
#define STACK_POINTER(here) ((here) = 0) /* not measured */
#endif

/* Runs the network with the stack below this frame painted; the deepest byte that changed tells what it took. */
static void run(void)
{
    volatile unsigned char *here;
    volatile unsigned char *low = port->stack_low;
    uint32_t taken;
    int status;
    STACK_POINTER(here);
    if ((run_flags & PAINT) == 0u) {
        low = 0;
    }
    if (low != 0 && low < here) {
        for (; low < here; low++) {
            *low = PATTERN;
        }
        low = port->stack_low;
    } else {
        low = 0;
    }
#ifdef ${m.upper}_TRACE
    for (taken = 0; taken < LAYERS; taken++) {
        layer_cycles[taken] = 0;
    }
#endif
    if (port->mark != 0) {
        port->mark(1);
    }
    taken = cycles();
    status = ${m.name}_run(${m.arguments.replace("&context", given)});
    taken = cycles() - taken;
    if (port->mark != 0) {
        port->mark(0);
    }
    if (low != 0) {
        while (low < here && *low == PATTERN) {
            low++;
        }
    }
    begin(asked | (uint32_t)ANSWER);
    put(DONE, 1);
    put((uint32_t)status, 4);
    put(taken, 4);
    put(low != 0 ? (uint32_t)(here - low) : 0u, 4);
    finish();
}

void ${m.name}_monitor(const ${m.name}_monitor_port *board)
{
    port = board;
    ended = 0;
    for (serve(0); !ended; serve(0)) {
        run();
    }
    port = 0;
}
