/* ${t.name}: tokens of text, text of tokens, and which token comes next. ${t.tool}. */
#include "${t.name}_text.h"

#include "${t.name}.h"
% if t.chunk:
#include "${t.chunk.name}.h"
% endif

#include <math.h>
#include <string.h>

/* Where the bytes of each token begin in all of them; the last number is their end. */
static const ${t.offset_type} ${t.name}_starts[${t.tokens + 1}] = {
${t.starts}};
static const uint8_t ${t.name}_bytes[${t.byte_count}] = {
${t.bytes}};
/* Tokens of one character each. */
static const uint16_t ${t.name}_characters[${t.character_count}] = {
${t.characters}};
% if t.merge_count:
/* left, right, what they become, rank: sorted by the first two; the lowest rank of a text goes first. */
static const uint16_t ${t.name}_merges[${t.merge_count}][4] = {
${t.merges}};

static int ${t.name}_merge_of(uint16_t left, uint16_t right)
{
    int low = 0, high = ${t.merge_count};
    while (low < high) {
        const int middle = (low + high) / 2;
        const uint16_t *const merge = ${t.name}_merges[middle];
        if (merge[0] < left || (merge[0] == left && merge[1] < right)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < ${t.merge_count} && ${t.name}_merges[low][0] == left && ${t.name}_merges[low][1] == right ? low : -1;
}
% endif

static int ${t.name}_character(const char *text, size_t size_bytes)
{
    for (int i = 0; i < ${t.character_count}; i++) {
        const int token = ${t.name}_characters[i];
        const size_t start = ${t.name}_starts[token];
        if (${t.name}_starts[token + 1] - start == size_bytes && memcmp(${t.name}_bytes + start, text, size_bytes) == 0) {
            return token;
        }
    }
    return -1;
}

/* The tokens of the characters of a text behind the `count` that there are; how many there are then, -1 for too many. */
static int ${t.name}_add(const char *text, uint16_t *tokens, int count, int most)
{
    while (*text != 0 && count >= 0) {
        size_t size_bytes = 1;
        int token;
        while (((unsigned char)text[0] & 0xC0u) == 0xC0u && ((unsigned char)text[size_bytes] & 0xC0u) == 0x80u) {
            size_bytes++;
        }
        token = ${t.name}_character(text, size_bytes);
        if (token >= 0) {
            tokens[count < most ? count : 0] = (uint16_t)token;
            count = count < most ? count + 1 : -1;
        }
% if t.first_byte >= 0:
        for (size_t i = 0; token < 0 && i < size_bytes && count >= 0; i++) {
            tokens[count < most ? count : 0] = (uint16_t)(${t.first_byte} + (unsigned char)text[i]);
            count = count < most ? count + 1 : -1;
        }
% elif t.unknown >= 0:
        if (token < 0) {
            tokens[count < most ? count : 0] = ${t.unknown};
            count = count < most ? count + 1 : -1;
        }
% endif
        text += size_bytes;
    }
    return count;
}

int ${t.name}_encode(const char *text, uint16_t *tokens, int most)
{
    int count = 0;
    if (most < 1) {
        return -1;
    }
% if t.begin >= 0:
    tokens[count++] = ${t.begin};
% endif
% if t.leading_blank:
    if (text[0] != 0) {
        count = ${t.name}_add(" ", tokens, count, most);
    }
% endif
    count = count < 0 ? -1 : ${t.name}_add(text, tokens, count, most);
% if t.merge_count:
    for (;;) {
        int best = -1, place = 0;
        for (int i = ${int(t.begin >= 0)}; i + 1 < count; i++) {
            const int merge = ${t.name}_merge_of(tokens[i], tokens[i + 1]);
            if (merge >= 0 && (best < 0 || ${t.name}_merges[merge][3] < ${t.name}_merges[best][3])) {
                best = merge;
                place = i;
            }
        }
        if (best < 0) {
            break;
        }
        tokens[place] = ${t.name}_merges[best][2];
        count--;
        memmove(tokens + place + 1, tokens + place + 2, (size_t)(count - place - 1) * sizeof *tokens);
    }
% endif
    return count;
}

const char *${t.name}_piece(int previous, int token, size_t *size_bytes)
{
    size_t start;
    *size_bytes = 0;
    if (token < 0 || token >= ${t.tokens}${f" || token == {t.begin}" if t.begin >= 0 else ""}${f" || token == {t.end}" if t.end >= 0 else ""}) {
        return "";
    }
    start = ${t.name}_starts[token];
% if t.leading_blank:
    if ((previous < 0 || previous == ${t.begin}) && start < ${t.name}_starts[token + 1] && ${t.name}_bytes[start] == ' ') {
        start++;
    }
% else:
    (void)previous;
% endif
    *size_bytes = ${t.name}_starts[token + 1] - start;
    return (const char *)${t.name}_bytes + start;
}

/* The best of those that come behind `last` in the order of scores, the first of equal ones; -1 where none is left. */
static int ${t.name}_next_best(const float *scores, int last)
{
    int best = -1;
    for (int i = 0; i < ${t.tokens}; i++) {
        if (last >= 0 && (scores[i] > scores[last] || (scores[i] == scores[last] && i <= last))) {
            continue;
        }
        if (best < 0 || scores[i] > scores[best]) {
            best = i;
        }
    }
    return best;
}

int ${t.name}_choose(float *scores, ${t.name}_sampler *sampler)
{
    const int best = ${t.name}_next_best(scores, -1);
    float total = 0, sum = 0, drawn;
    int last = -1, next;
    if (sampler->temperature == 0 || best < 0) {
        return best < 0 ? 0 : best;
    }
    {
        const float high = scores[best], factor = 1.0f / sampler->temperature;
        for (int i = 0; i < ${t.tokens}; i++) {
            scores[i] = expf((scores[i] - high) * factor);
            total += scores[i];
        }
    }
    while (sum < sampler->top_p * total && (next = ${t.name}_next_best(scores, last)) >= 0) {
        sum += scores[next];
        last = next;
    }
    sampler->random ^= sampler->random << 13;
    sampler->random ^= sampler->random >> 17;
    sampler->random ^= sampler->random << 5;
    drawn = (float)(sampler->random >> 8) * 0x1p-24f * sum;
    sum = 0;
    for (int at = ${t.name}_next_best(scores, -1); at != last && at >= 0; at = ${t.name}_next_best(scores, at)) {
        sum += scores[at];
        if (drawn < sum) {
            return at;
        }
    }
    return last < 0 ? best : last;
}

void ${t.name}_feed(int token, int position)
{
    ${t.name}_input_${t.token_input}()[0] = token;
    ${t.name}_input_${t.position_input}()[0] = position;
}

% if t.chunk:
void ${t.name}_feed_chunk(const uint16_t *tokens, int position)
{
    for (int i = 0; i < ${t.upper}_CHUNK; i++) {
        ${t.chunk.name}_input_${t.chunk.token}()[i] = tokens[i];
    }
    ${t.chunk.name}_input_${t.chunk.position}()[0] = position;
}

% endif
float *${t.name}_scores(void)
{
    return ${t.name}_output_${t.scores_output}()${f" + {t.scores_offset}" if t.scores_offset else ""};
}

int ${t.name}_generate(const char *prompt, int count, ${t.name}_sampler *sampler, ${t.name}_tell tell)
{
    uint16_t tokens[${t.upper}_POSITIONS];
    int given = ${t.name}_encode(prompt, tokens, ${t.upper}_POSITIONS), previous = -1, position = 0, written = 0;
    if (given < 1 || ${t.name}_reset() != ${t.upper}_OK) {
        return -1;
    }
    for (int token = tokens[0];;) {
        size_t size_bytes;
        const char *const piece = ${t.name}_piece(previous, token, &size_bytes);
        tell(piece, size_bytes);
% if t.begin >= 0 or t.end >= 0:
        if (position >= given && (${" || ".join(f"token == {mark}" for mark in (t.begin, t.end) if mark >= 0)})) {
            break;
        }
% endif
        if (position >= ${t.upper}_POSITIONS || written >= count) {
            break;
        }
% if t.chunk:
        if (given - position > ${t.upper}_CHUNK) {
            ${t.name}_feed_chunk(tokens + position, position);
            if (${t.chunk.name}_run() != ${t.chunk.name.upper()}_OK) {
                return -1;
            }
            for (int i = 1; i < ${t.upper}_CHUNK; i++) {
                const char *const more = ${t.name}_piece(tokens[position + i - 1], tokens[position + i], &size_bytes);
                tell(more, size_bytes);
            }
            position += ${t.upper}_CHUNK;
            previous = tokens[position - 1];
            token = tokens[position];
            continue;
        }
% endif
        ${t.name}_feed(token, position++);
        if (${t.name}_run() != ${t.upper}_OK) {
            return -1;
        }
        previous = token;
        if (position < given) {
            token = tokens[position];
        } else {
            token = ${t.name}_choose(${t.name}_scores(), sampler);
            written++;
        }
    }
    return written;
}
