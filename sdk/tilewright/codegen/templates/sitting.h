#include <stddef.h>

/* What the cores do at one turn of a sitting: `done` lists of copies have ended before it begins, and `started` ones run
 * by themselves or have ended while it lasts. A row without function ends them. */
typedef struct {
    void (*function)(const void *work, int core, int cores);
    const void *work;
    uint16_t started;
    uint16_t done;
} tilewright_turn;

/* The end of a list of copies among all copies, and whether these are of constants. */
typedef struct {
    uint16_t end;
    uint16_t constants;
} tilewright_list;

/* Lists of copies in the order in which they start, of which `first` do before the first turn. */
typedef struct {
    const tilewright_copy *copies;
    const tilewright_list *lists;
    int count;
    int first;
    unsigned char *const *constants;
    unsigned char *const *home;
    unsigned char *fast;
} tilewright_sitting;

/* Lists that are under way: those from `done` to `started`. */
typedef struct {
    tilewright_future coming[8];
    int started;
    int done;
} tilewright_moving;

/* Wait for all lists before the `end`th. */
static void tilewright_wait_lists(tilewright_moving *moving, int end)
{
    for (; moving->done < end; moving->done++) {
        tilewright_wait(moving->coming[moving->done % 8]);
    }
}

/* Start all lists before the `end`th. */
static void tilewright_start_lists(const tilewright_sitting *sitting, tilewright_moving *moving, int end)
{
    for (; moving->started < end; moving->started++) {
        const tilewright_list *const list = sitting->lists + moving->started;
        const int first = moving->started == 0 ? 0 : list[-1].end;
        tilewright_wait_lists(moving, moving->started - 7);
        moving->coming[moving->started % 8] = tilewright_start(sitting->copies, first, list->end, sitting->fast, list->constants != 0u ? sitting->constants : sitting->home);
    }
}

/* What the cores are called with: one turn after the other, none before all have ended the one before. */
static void tilewright_take_turns(const void *given, int core, int cores)
{
    const tilewright_turn *turn = given;
    for (;;) {
        turn->function(turn->work, core, cores);
        turn++;
        if (turn->function == NULL) {
            return;
        }
        tilewright_barrier();
    }
}

/* All turns of a sitting, which its first list of copies brings beside the cores. */
static void tilewright_sit(const tilewright_sitting *sitting, const tilewright_turn *turn)
{
    tilewright_moving moving = {{0}, 0, 0};
    int begun = 0;
    tilewright_start_lists(sitting, &moving, sitting->first);
    tilewright_wait_lists(&moving, 1);
    for (; turn->function != NULL; turn++) {
        tilewright_wait_lists(&moving, turn->done);
        if (begun == 0) {
            begun = 1;
            tilewright_begin(tilewright_take_turns, turn);
        } else {
            tilewright_barrier();
        }
        tilewright_start_lists(sitting, &moving, turn->started);
    }
    tilewright_end();
    tilewright_start_lists(sitting, &moving, sitting->count);
    tilewright_wait_lists(&moving, sitting->count);
}
