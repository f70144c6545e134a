/* A language model that reads what it has written: what the test image does between two calls of the network.
 *
 * prompt.bin   f32 temperature, f32 top_p, u32 first number of the generator, u32 tokens to write; then the prompt.
 * text.bin     the text as it comes.
 * tokens.bin   u32 tokens of the prompt, then every token as u32: those of the prompt, and those that were chosen. */
#include "harness.h"

#include "text.h"

static uint16_t tw_prompt[TW_POSITIONS];
static tw_file tw_text_file;
static tw_file tw_token_file;
static uint32_t tw_given;
static uint32_t tw_wanted;
static uint32_t tw_place;
static int tw_token;
static int tw_previous = -1;
static struct {
    float temperature;
    float top_p;
    uint32_t random;
    uint32_t count;
    char text[TW_PROMPT_BYTES];
} tw_asked;

static void tw_tell(int token)
{
    uint32_t word = (uint32_t)token, size_bytes;
    const char *piece = tw_piece(tw_previous, token, &size_bytes);
    if (tw_write(tw_token_file, &word, 4) != 0 || (size_bytes != 0u && tw_write(tw_text_file, piece, size_bytes) != 0)) {
        tw_exit(TW_BAD_FILE);
    }
    tw_previous = token;
}

static void tw_read_prompt(void)
{
    tw_file file = tw_open("prompt.bin", 0);
    int given;
    if (file == 0 || tw_read(file, &tw_asked, (uint32_t)sizeof tw_asked) != 0) {
        tw_exit(TW_BAD_FILE);
    }
    tw_close(file);
    given = tw_encode(tw_asked.text, tw_prompt, TW_POSITIONS);
    tw_text_file = tw_open("text.bin", 1);
    tw_token_file = tw_open("tokens.bin", 1);
    if (given < 1 || tw_text_file == 0 || tw_token_file == 0) {
        tw_exit(TW_BAD_FILE);
    }
    tw_given = (uint32_t)given;
    tw_wanted = tw_asked.count;
    if (tw_write(tw_token_file, &tw_given, 4) != 0) {
        tw_exit(TW_BAD_FILE);
    }
    tw_token = tw_prompt[0];
    tw_tell(tw_token);
}

int tw_feed(void)
{
    if (tw_given == 0u) {
        tw_read_prompt();
    }
    if (tw_place >= TW_POSITIONS || tw_place + 1u >= tw_given + tw_wanted || (tw_place >= tw_given && tw_ends(tw_token))) {
        tw_close(tw_text_file);
        tw_close(tw_token_file);
        return 0;
    }
#ifdef TW_CHUNK
    if (tw_place + TW_CHUNK < tw_given) {
        tw_set_chunk(tw_prompt + tw_place, (int)tw_place);
        for (uint32_t i = 1; i < TW_CHUNK; i++) {
            tw_tell(tw_prompt[tw_place + i]);
        }
        tw_place += TW_CHUNK;
        return 1;
    }
#endif
    tw_set(tw_token, (int)tw_place);
    tw_place++;
    return 1;
}

void tw_take(void)
{
    tw_token = tw_place < tw_given ? tw_prompt[tw_place] : tw_choose(tw_asked.temperature, tw_asked.top_p, &tw_asked.random);
    tw_tell(tw_token);
}
