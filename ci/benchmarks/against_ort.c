/* Times one network against ONNX Runtime through its C interface, calls in turn, one thread each.
 *
 * The wheel of onnxruntime has a library and no header: OrtApi is a table of functions that only grows at its end, so the
 * places of the few that are needed here are written down (onnxruntime_c_api.h, version 17 of the interface and later).
 *
 *   against_ort LIBRARY MODEL INPUT.bin OUTPUT_BYTES INPUT_NAME OUTPUT_NAME ROUNDS TYPE RANK EXTENT... TYPE RANK EXTENT...
 *
 * Prints JSON: microseconds, smallest and median, of each, the median of the ratios of neighbouring calls, and how
 * many bytes of the outputs differ. There is one input and one output, of any ONNX type of numbers.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include HEADER

#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
#define OURS(name) JOINED(NETWORK, name)

enum {
    GET_ERROR_MESSAGE = 2, CREATE_ENV = 3, CREATE_SESSION = 7, RUN = 9, CREATE_SESSION_OPTIONS = 10,
    SET_OPTIMIZATION_LEVEL = 23, SET_INTRA_THREADS = 24, SET_INTER_THREADS = 25, CREATE_TENSOR = 49,
    CREATE_CPU_MEMORY_INFO = 69, INTERFACE = 17, EVERYTHING = 99, ERRORS_ONLY = 3, MOST_AXES = 8
};

typedef void *Status;
typedef struct {
    void *const *(*get)(uint32_t version);
    const char *(*version)(void);
} Base;

static void *const *api;

static void check(Status status) {
    if (status != NULL) {
        fprintf(stderr, "%s\n", ((const char *(*)(Status))api[GET_ERROR_MESSAGE])(status));
        exit(1);
    }
}

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *must(void *pointer, const char *what) {
    if (pointer == NULL) {
        fprintf(stderr, "no %s\n", what);
        exit(1);
    }
    return pointer;
}

static void *tensor(void *info, void *bytes, size_t size, const int64_t *extents, size_t rank, int type) {
    void *made;
    check(((Status(*)(void *, void *, size_t, const int64_t *, size_t, int, void **))api[CREATE_TENSOR])(
        info, bytes, size, extents, rank, type, &made));
    return made;
}

static void *session(const char *model) {
    void *environment, *options, *made;
    check(((Status(*)(int, const char *, void **))api[CREATE_ENV])(ERRORS_ONLY, "bench", &environment));
    check(((Status(*)(void **))api[CREATE_SESSION_OPTIONS])(&options));
    check(((Status(*)(void *, int))api[SET_INTRA_THREADS])(options, 1));
    check(((Status(*)(void *, int))api[SET_INTER_THREADS])(options, 1));
    check(((Status(*)(void *, int))api[SET_OPTIMIZATION_LEVEL])(options, EVERYTHING));
    check(((Status(*)(void *, const char *, void *, void **))api[CREATE_SESSION])(environment, model, options, &made));
    return made;
}

int main(int count, char **words) {
    if (count < 12) {
        return 2;
    }
    void *library = must(dlopen(words[1], RTLD_NOW), "library of onnxruntime");
    const Base *(*base)(void) = (const Base *(*)(void))must(dlsym(library, "OrtGetApiBase"), "OrtGetApiBase");
    api = must((void *)base()->get(INTERFACE), "version 17 of the interface");
    const size_t output_bytes = (size_t)atol(words[4]);
    const int rounds = atoi(words[7]);
    int64_t extents[2][MOST_AXES];
    size_t ranks[2];
    int types[2];
    int word = 8;
    for (int i = 0; i < 2; i++) {
        types[i] = atoi(words[word++]);
        ranks[i] = (size_t)atoi(words[word++]);
        for (size_t axis = 0; axis < ranks[i] && axis < MOST_AXES; axis++) {
            extents[i][axis] = atol(words[word++]);
        }
    }
    FILE *file = must(fopen(words[3], "rb"), "input");
    fseek(file, 0, SEEK_END);
    const size_t input_bytes = (size_t)ftell(file);
    rewind(file);
    unsigned char *input = must(aligned_alloc(64, (input_bytes + 63) / 64 * 64), "memory");
    unsigned char *output = must(aligned_alloc(64, (output_bytes + 63) / 64 * 64), "memory");
    if (fread(input, 1, input_bytes, file) != input_bytes) {
        return 1;
    }
    fclose(file);
    void *info, *made = session(words[2]);
    check(((Status(*)(int, int, void **))api[CREATE_CPU_MEMORY_INFO])(0, 0, &info));
    const void *inputs[] = {tensor(info, input, input_bytes, extents[0], ranks[0], types[0])};
    void *outputs[] = {tensor(info, output, output_bytes, extents[1], ranks[1], types[1])};
    const char *input_names[] = {words[5]}, *output_names[] = {words[6]};
    Status (*run)(void *, void *, const char *const *, const void *const *, size_t, const char *const *, size_t, void **) =
        (Status(*)(void *, void *, const char *const *, const void *const *, size_t, const char *const *, size_t,
                   void **))api[RUN];
    double *times = must(malloc(3 * sizeof(double) * (size_t)rounds), "memory");
    double *ours = times, *theirs = times + rounds, *ratios = theirs + rounds;
    for (int round = 0; round < rounds; round++) {
        for (int again = 0; again < 2; again++) { /* the first call brings the network back into the caches */
            memcpy(OURS(_input_0)(), input, input_bytes);
            const double start = microseconds();
            OURS(_run)();
            ours[round] = microseconds() - start;
        }
        for (int again = 0; again < 2; again++) {
            const double start = microseconds();
            check(run(made, NULL, input_names, inputs, 1, output_names, 1, outputs));
            theirs[round] = microseconds() - start;
        }
        ratios[round] = ours[round] / theirs[round];
    }
    size_t differing = 0;
    for (size_t i = 0; i < output_bytes; i++) {
        differing += ((const unsigned char *)OURS(_output_0)())[i] != output[i];
    }
    qsort(ours, (size_t)rounds, sizeof(double), ascending);
    qsort(theirs, (size_t)rounds, sizeof(double), ascending);
    qsort(ratios, (size_t)rounds, sizeof(double), ascending);
    printf("{\"ours\": [%.3f, %.3f], \"theirs\": [%.3f, %.3f], \"ratio\": %.4f, \"differing\": %zu}\n", ours[0],
           ours[rounds / 2], theirs[0], theirs[rounds / 2], ratios[rounds / 2], differing);
    return 0;
}
