/* The tokeniser and the sampler of the model behind plain names, written for one model by run/glue.py. */
#ifndef TW_TEXT_H
#define TW_TEXT_H

#include <stdint.h>

#define TW_PROMPT_BYTES 4096

int tw_encode(const char *text, uint16_t *tokens, int most);
const char *tw_piece(int previous, int token, uint32_t *size_bytes);
int tw_ends(int token);
void tw_set(int token, int position);
void tw_set_chunk(const uint16_t *tokens, int position); /* of TW_CHUNK tokens: the next call reads these */
int tw_choose(float temperature, float top_p, uint32_t *random);

#endif
