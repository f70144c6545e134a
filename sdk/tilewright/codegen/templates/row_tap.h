/* A test build takes out the rows that a chain keeps to itself, as they are made. */
#ifdef TILEWRIGHT_ROW_TAPS
void tilewright_tap(int node, int first_row, const void *rows, int size_bytes);
#else
#define tilewright_tap(node, first_row, rows, size_bytes) ((void)0)
#endif
