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

/* A sitting: the lists of its copies in the order in which they start, the next turn, and how far it is. Lists from `done`
 * to `started` are under way. */
typedef struct {
    const tilewright_copy *copies;
    const tilewright_list *lists;
    unsigned char *const *constants;
    unsigned char *const *home;
    unsigned char *fast;
    const tilewright_turn *turn;
    tilewright_future coming[8];
    int started;
    int done;
    int begun;
} tilewright_sitting;

/* Wait for all lists before the `end`th. */
static void tilewright_wait_lists(tilewright_sitting *sitting, int end)
{
    for (; sitting->done < end; sitting->done++) {
        tilewright_wait(sitting->coming[sitting->done % 8]);
    }
}

/* Start all lists before the `end`th. */
static void tilewright_start_lists(tilewright_sitting *sitting, int end)
{
    for (; sitting->started < end; sitting->started++) {
        const tilewright_list *const list = sitting->lists + sitting->started;
        int first = 0;
        if (sitting->started > 0) {
            first = (int)list[-1].end;
        }
        unsigned char *const *const home = list->constants != 0u ? sitting->constants : sitting->home;
        tilewright_wait_lists(sitting, sitting->started - 7);
        sitting->coming[sitting->started % 8] = tilewright_start(sitting->copies, first, list->end, sitting->fast, home);
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

/* Some more turns, of which the last goes on when this returns. */
static void tilewright_take(tilewright_sitting *sitting, int turns)
{
    for (; turns > 0; turns--) {
        tilewright_wait_lists(sitting, sitting->turn->done);
        if (sitting->begun == 0) {
            sitting->begun = 1;
            tilewright_begin(tilewright_take_turns, sitting->turn);
        } else {
            tilewright_barrier();
        }
        tilewright_start_lists(sitting, sitting->turn->started);
        sitting->turn++;
    }
}

/* The end of the last turn, and of so many lists. */
static void tilewright_finish(tilewright_sitting *sitting, int lists)
{
    tilewright_end();
    tilewright_start_lists(sitting, lists);
    tilewright_wait_lists(sitting, lists);
}
