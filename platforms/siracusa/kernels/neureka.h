/* N-EUREKA as the firmware brings it. Write the 24 words of a free job, waiting for one; start the job written last; wait
 * for the oldest that was not waited for. Two jobs may have begun and not be waited for. */
void tilewright_neureka_write(const uint32_t *words);
void tilewright_neureka_start(void);
void tilewright_neureka_wait(void);

#ifndef TILEWRIGHT_NEUREKA_WEIGHTS
#define TILEWRIGHT_NEUREKA_WEIGHTS 0x10400000u /* first byte of the weight memory */
#endif

/* One tile: results, inputs with what padding they lack before and behind them, the first output channel,
 * rows of sums and output channels of a job. */
typedef struct {
    int rows, columns, channels, first;
    int in_rows, in_columns;
    int top, left;
    int job_rows, job_channels;
} tilewright_neureka_tile;
