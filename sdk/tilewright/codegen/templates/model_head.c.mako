/* ${m.name}: ${m.summary}
 * ${m.tool}. Model sha256 ${m.sha256}.
 * This file is generated for you and is yours: no licence notice is asked for. */
${m.own_includes[0]}

% for line in m.own_includes[1:]:
${line}
% endfor

#if !defined(${m.upper}_BUILD) || ${m.upper}_BUILD != 0x${build}u
#error "this file and ${m.name}.h come of two compilations: compile the network again"
#endif

% for line in m.library_includes:
${line}
% endfor
% if m.limits.largest_int:

#if INT_MAX < ${m.limits.largest_int}
#error "${m.name} counts its elements with int, which must hold ${m.limits.largest_int}: build it for a core whose int has 32 bits"
#endif
% endif
% if m.limits.wide_double:

#if DBL_MANT_DIG < 53
#error "${m.name} computes with double, which must have 64 bits: give the option for that (-mdouble=64 of avr-gcc 10 and later) or another core"
#endif
% endif

#if defined(__GNUC__) && !defined(__clang__)
/* gcc 12 may count an address in a loop as a distance from zero, takes that for a null pointer, and leaves the call out. */
#pragma GCC optimize("no-delete-null-pointer-checks")
#endif

const char ${m.name}_version[] = "${m.tool}; ${m.name} sha256 ${m.sha256}";

% if not (m.context or m.kit):
/* Memory section of the arena, e.g. -D${m.upper}_ARENA_SECTION='__attribute__((section(".dtcm")))'. */
#ifndef ${m.upper}_ARENA_SECTION
#define ${m.upper}_ARENA_SECTION
#endif
#if defined(__GNUC__)
#define ${m.upper}_ALIGNED __attribute__((aligned(${m.align})))
#else
#define ${m.upper}_ALIGNED
#endif
% endif
#ifdef ${m.upper}_TRACE
#define ${m.upper}_MARK(instruction, phase) ${m.name}_trace(instruction, phase)
#else
#define ${m.upper}_MARK(instruction, phase) ((void)0)
#endif

% for level in m.levels:
% if level.size is not None:
/* ${level.name}: ${level.worst_case} of ${level.size} bytes. */
% if level.stack:
#ifndef ${m.upper}_STACK_BYTES
#define ${m.upper}_STACK_BYTES 0 /* give what report.json says of a build, and it is counted */
#endif
typedef char ${m.name}_fits_${level.name}
    [(${m.upper}_${level.macro}_BYTES + ${m.upper}_STACK_BYTES <= ${level.size}) ? 1 : -1];
% else:
typedef char ${m.name}_fits_${level.name}[(${m.upper}_${level.macro}_BYTES <= ${level.size}) ? 1 : -1];
% endif
% endif
% endfor

${parts.memory}\
% if m.blobs:
% for b in m.blobs:
% if b.blob.mapped and not m.context:
static const unsigned char *${b.blob.pointer};
% endif
% endfor

static uint32_t ${m.name}_crc32(const unsigned char *bytes, size_t count)
{
    uint32_t sum = 0xffffffffu;
    size_t i;
    int bit;
    for (i = 0; i < count; i++) {
        sum ^= bytes[i];
        for (bit = 0; bit < 8; bit++) {
            sum = (sum >> 1) ^ ((sum & 1u) != 0u ? 0xedb88320u : 0u);
        }
    }
    return ~sum;
}

static uint32_t ${m.name}_word(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

int ${m.name}_load_weights(${m.first}const void *blob, size_t size_bytes)
{
    static const uint32_t known[${len(m.blobs)}][3] = {
% for b in m.blobs:
        {${b.low}u, ${b.high}u, ${b.blob.payload_bytes}u},
% endfor
    };
    const unsigned char *head = blob;
    const unsigned char *payload;
    uint32_t region;
% if m.context:
    if (context == NULL) {
        return ${m.upper}_ERROR_NULL_POINTER;
    }
% endif
    if (head == NULL || size_bytes < 32u) {
        return ${m.upper}_ERROR_WEIGHTS_TOO_SHORT;
    }
    if (${m.name}_crc32(head, 28u) != ${m.name}_word(head + 28)) {
        return ${m.upper}_ERROR_WEIGHTS_DAMAGED;
    }
    if (${m.name}_word(head) != 0x42575754u || ${m.name}_word(head + 4) != 1u) {
        return ${m.upper}_ERROR_WEIGHTS_FORMAT;
    }
    region = ${m.name}_word(head + 24);
    if (region >= ${len(m.blobs)}u || ${m.name}_word(head + 16) != known[region][0] ||
        ${m.name}_word(head + 20) != known[region][1] || ${m.name}_word(head + 8) != known[region][2]) {
        return ${m.upper}_ERROR_WEIGHTS_OTHER_MODEL;
    }
    if (size_bytes - 32u < known[region][2]) {
        return ${m.upper}_ERROR_WEIGHTS_TOO_SHORT;
    }
    payload = head + 32;
    if (${m.name}_crc32(payload, (size_t)known[region][2]) != ${m.name}_word(head + 12)) {
        return ${m.upper}_ERROR_WEIGHTS_DAMAGED;
    }
    if ((uintptr_t)head % ${m.upper}_BLOB_ALIGN != 0) {
        return ${m.upper}_ERROR_WEIGHTS_MISALIGNED;
    }
#ifdef ${m.upper}_VERIFY_WEIGHTS
    if (${m.upper}_VERIFY_WEIGHTS(blob, size_bytes) != 0) {
        return ${m.upper}_ERROR_WEIGHTS_REFUSED;
    }
#endif
    switch (region) {
% for b in m.blobs:
    case ${b.blob.index}u: /* ${b.comment} */
% if b.blob.mapped:
        ${b.blob.pointer} = payload;
% else:
% for p in b.blob.pieces:
% if p.size_bytes:
        memcpy(${p.array}, payload + ${p.offset}, ${p.size_bytes}u);
% endif
% endfor
% endif
        break;
% endfor
    default:
        return ${m.upper}_ERROR_WEIGHTS_OTHER_MODEL;
    }
    return ${m.upper}_OK;
}
% endif
% if m.fast and not m.kit:

/* The buffers of all tiles. */
#ifndef ${m.upper}_${m.fast.macro}_SECTION
#if defined(__GNUC__)
#define ${m.upper}_${m.fast.macro}_SECTION __attribute__((section("${m.fast.section}"), aligned(${m.fast.align})))
#else
#define ${m.upper}_${m.fast.macro}_SECTION
#endif
#endif
${m.upper}_${m.fast.macro}_SECTION static unsigned char ${m.fast.name}[${m.fast.size}];
% endif
