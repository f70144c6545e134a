/* ${t.name}: text in and out. ${t.tool}.
 * This file is generated for you and is yours: no licence notice is asked for. */
#ifndef ${t.upper}_TEXT_H
#define ${t.upper}_TEXT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ${t.upper}_TOKENS ${t.tokens}
#define ${t.upper}_POSITIONS ${t.positions} /* tokens that the states hold, the prompt's included */
% if t.begin >= 0:
#define ${t.upper}_BEGIN_TOKEN ${t.begin} /* stands before a text */
% endif
% if t.end >= 0:
#define ${t.upper}_END_TOKEN ${t.end} /* stands behind a text */
% endif

/* How the next token is chosen: the best one at a temperature of 0; else one is drawn among the fewest whose
 * probabilities, best first, add up to top_p. `random` is any number but 0 and moves on with every draw. */
typedef struct {
    float temperature;
    float top_p;
    uint32_t random;
} ${t.name}_sampler;

/* Takes each piece of text as it comes; it ends with no zero byte. */
typedef void (*${t.name}_tell)(const char *piece, size_t size_bytes);

/* The tokens of a text in UTF-8, at most `most`; their number, or -1 where they are more. */
int ${t.name}_encode(const char *text, uint16_t *tokens, int most);

/* The bytes that a token adds to the text behind the token `previous`, which is -1 at its beginning. */
const char *${t.name}_piece(int previous, int token, size_t *size_bytes);

/* The next token by the scores of all, which are written over. */
int ${t.name}_choose(float *scores, ${t.name}_sampler *sampler);

/* Gives the network a token and its position; ${t.name}_run then makes the scores of the next one. */
void ${t.name}_feed(int token, int position);
float *${t.name}_scores(void);

% if t.chunk:
#define ${t.upper}_CHUNK ${t.chunk.tokens} /* tokens of a prompt that ${t.chunk.name}_run reads in one call */

/* Gives ${t.chunk.name} the tokens of the positions from `position` on; ${t.chunk.name}_run then writes what
 * ${t.name}_run would have left of them in the states, without scores. */
void ${t.name}_feed_chunk(const uint16_t *tokens, int position);

% endif
/* Begins anew, reads the prompt, and writes up to `count` tokens behind it, all of which `tell` gets, and less where a
 * text ends or the positions do. How many were written; -1 where the prompt is too long or the network fails. */
int ${t.name}_generate(const char *prompt, int count, ${t.name}_sampler *sampler, ${t.name}_tell tell);

#ifdef __cplusplus
}
#endif

#endif
