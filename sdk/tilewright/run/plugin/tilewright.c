/* QEMU plugin: counts what a model costs, or fences what it touches. Written for plugin API version 1 (QEMU 4.2 to 8.2)
 * with its own declarations, because distributions ship no qemu-plugin.h.
 *
 * It reads plugin.cfg and writes plugin.out, both in the current folder; addresses are hexadecimal.
 *   entry A              the model's run function: what follows is watched
 *   leave LO HI          its caller: what runs there is not
 *   own LO HI            code of the test image: never counted, never checked
 *   marks LO HI          a load of byte 2 * instruction + phase by own code says where the plan stands
 *   function LO HI       counted by itself, in this order
 *   window LO HI         memory whose traffic is counted, in this order
 *   cycles, wait         a model of the core, see counts.h
 *   open LO HI MODE      fence: memory that may be read (1), written (2) or both (3)
 *   words SIZE           fence: a load of one aligned word of SIZE bytes that begins in what is open may end behind it,
 *                        as a compiler copies the tail of a block, but not in another guarded object
 *   guard LO HI          fence: memory that is closed but for what `allow` opens
 *   allow I LO HI MODE   fence: what plan instruction I may touch inside guarded memory
 * It writes what it counted, or in a fence `touched LO HI BYTES`: how many bytes of a piece of memory were touched.
 * A fence that is crossed is written to plugin.out and ends the simulator with exit code 67. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, void (*)(unsigned, void *), int, void *);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *,
                                             void (*)(unsigned, qemu_plugin_meminfo_t, uint64_t, void *), int, int, void *);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void *), void *);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
extern unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);
extern bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);
__attribute__((visibility("default"))) int qemu_plugin_version = 1;

enum { HARTS = 64, WINDOWS = 8, LAYERS = 2050, READ = 1, WRITE = 2, FENCED = 67, ANY_ACCESS = 3 };

struct range {
    uint64_t low, high;
    uint64_t count;
    int instruction;
    unsigned mode;
    uint8_t *map; /* guarded memory: what each byte is open for now */
    uint8_t *seen; /* segments: bytes that were touched, `count` in all */
};

struct list {
    struct range *items;
    size_t count;
};

static struct list functions, windows, owned, leaves, opened, guarded, allowed, segments;
static struct range marks;
static uint64_t entry;
static uint64_t word_size;
static bool fencing;
static volatile bool watching;
static int layer; /* 0 outside of all layers, else plan instruction + 1 */
static uint64_t harts[HARTS];
static uint64_t layers[LAYERS];
static uint64_t traffic[LAYERS][WINDOWS][2];

static struct range *add(struct list *list)
{
    if ((list->count & (list->count - 1)) == 0) {
        list->items = realloc(list->items, (list->count ? 2 * list->count : 1) * sizeof *list->items);
        if (list->items == NULL) {
            abort();
        }
    }
    memset(&list->items[list->count], 0, sizeof *list->items);
    return &list->items[list->count++];
}

static struct range *find(const struct list *list, uint64_t address)
{
    for (size_t i = 0; i < list->count; i++) {
        if (address >= list->items[i].low && address < list->items[i].high) {
            return &list->items[i];
        }
    }
    return NULL;
}

#include "counts.h"

/* With data at the model's first instruction, without at its caller's. */
static void on_border(unsigned hart, void *data)
{
    (void)hart;
    count_call(data != NULL);
    watching = data != NULL;
}

static void on_traffic(unsigned hart, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    (void)hart;
    (void)data;
    if (!watching) {
        return;
    }
    if (address >= slow.low && address < slow.high && !qemu_plugin_mem_is_store(info)) {
        modelled_cycles[layer] += slow.mode;
    }
    for (size_t i = 0; i < windows.count; i++) {
        if (address >= windows.items[i].low && address < windows.items[i].high) {
            traffic[layer][i][qemu_plugin_mem_is_store(info)] += UINT64_C(1) << qemu_plugin_mem_size_shift(info);
            return;
        }
    }
}

/* Opens in every guarded object what the plan instruction that begins may touch. */
static void open_ranges(int instruction)
{
    for (size_t g = 0; g < guarded.count; g++) {
        struct range *guard = &guarded.items[g];
        memset(guard->map, 0, guard->high - guard->low);
        for (size_t i = 0; i < allowed.count; i++) {
            const struct range *allow = &allowed.items[i];
            if (allow->instruction == instruction && allow->low >= guard->low && allow->high <= guard->high) {
                for (uint64_t n = allow->low; n < allow->high; n++) {
                    guard->map[n - guard->low] |= (uint8_t)allow->mode;
                }
            }
        }
    }
}

static void on_mark(unsigned hart, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    (void)hart;
    (void)info;
    (void)data;
    if (address < marks.low || address >= marks.high) {
        return;
    }
    int mark = (int)(address - marks.low);
    layer = (mark & 1) != 0 ? 0 : mark / 2 + 1;
    if (fencing) {
        open_ranges(layer - 1);
    }
}

static int by_address(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static uint8_t *zeros(uint64_t bytes)
{
    uint8_t *found = calloc(bytes, 1);
    if (found == NULL) {
        abort();
    }
    return found;
}

/* Cuts open and guarded memory into disjoint segments by address, so that an access needs one short search. */
static void cut_segments(void)
{
    const struct list *lists[2] = {&guarded, &opened};
    size_t count = 0;
    uint64_t *limits = (uint64_t *)(void *)zeros((2 * (guarded.count + opened.count) + 1) * sizeof *limits);
    for (int l = 0; l < 2; l++) {
        for (size_t i = 0; i < lists[l]->count; i++) {
            limits[count++] = lists[l]->items[i].low;
            limits[count++] = lists[l]->items[i].high;
        }
    }
    qsort(limits, count, sizeof *limits, by_address);
    for (size_t i = 0; i + 1 < count; i++) {
        const struct range *guard = find(&guarded, limits[i]);
        const struct range *open = find(&opened, limits[i]);
        if (limits[i] < limits[i + 1] && (guard != NULL || open != NULL)) {
            struct range *segment = add(&segments);
            segment->low = limits[i];
            segment->high = limits[i + 1];
            segment->mode = guard != NULL ? 0 : open->mode;
            segment->map = guard != NULL ? guard->map + (limits[i] - guard->low) : NULL;
            segment->seen = zeros(segment->high - segment->low);
        }
    }
    free(limits);
}

static struct range *find_segment(uint64_t address)
{
    static struct range *recent[4];
    static unsigned next;
    for (int i = 0; i < 4; i++) {
        if (recent[i] != NULL && address - recent[i]->low < recent[i]->high - recent[i]->low) {
            return recent[i];
        }
    }
    size_t low = 0, high = segments.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (address < segments.items[middle].low) {
            high = middle;
        } else if (address >= segments.items[middle].high) {
            low = middle + 1;
        } else {
            recent[next++ % 4] = &segments.items[middle];
            return &segments.items[middle];
        }
    }
    return NULL;
}

static bool is_open(uint64_t address, unsigned mode)
{
    struct range *segment = find_segment(address);
    uint64_t at = segment != NULL ? address - segment->low : 0;
    if (segment == NULL || ((segment->map != NULL ? segment->map[at] : segment->mode) & mode) != mode) {
        return false;
    }
    segment->count += segment->seen[at] == 0;
    segment->seen[at] = 1;
    return true;
}

/* True for byte `n` of a load that may run to the end of its aligned word, but not into another guarded object. */
static bool ends_word(uint64_t address, uint64_t size, uint64_t n, bool store)
{
    if (store || n == 0 || size != word_size || address % word_size != 0) {
        return false;
    }
    const struct range *first = find(&guarded, address), *last = find(&guarded, address + n);
    return first != NULL && (last == NULL || last == first);
}

static void on_access(unsigned hart, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    (void)hart;
    if (!watching) {
        return;
    }
    bool store = qemu_plugin_mem_is_store(info);
    uint64_t size = UINT64_C(1) << qemu_plugin_mem_size_shift(info);
    for (uint64_t n = 0; n < size; n++) {
        if (!is_open(address + n, store ? WRITE : READ) && !ends_word(address, size, n, store)) {
            FILE *file = fopen("plugin.out", "w");
            if (file != NULL) {
                fprintf(file, "tilewright: fence %s pc %" PRIx64 " address %" PRIx64 " bytes %" PRIu64 " layer %d\n",
                        store ? "store" : "load", (uint64_t)(uintptr_t)data, address + n, size - n, layer - 1);
                fclose(file);
            }
            _exit(FENCED);
        }
    }
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    size_t count = qemu_plugin_tb_n_insns(block);
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        uint64_t pc = qemu_plugin_insn_vaddr(instruction);
        if (pc == entry) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_border, 0, &entry);
        }
        if (find(&leaves, pc) != NULL) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_border, 0, NULL);
        } else if (find(&owned, pc) != NULL) {
            qemu_plugin_register_vcpu_mem_cb(instruction, on_mark, 0, ANY_ACCESS, NULL);
        } else if (fencing) {
            qemu_plugin_register_vcpu_mem_cb(instruction, on_access, 0, ANY_ACCESS, (void *)(uintptr_t)pc);
        } else {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_instruction, 0, describe(instruction, pc));
            qemu_plugin_register_vcpu_mem_cb(instruction, on_traffic, 0, ANY_ACCESS, NULL);
        }
    }
}

static void on_exit_of_simulator(qemu_plugin_id_t id, void *data)
{
    (void)id, (void)data;
    FILE *file = fopen("plugin.out", "w");
    if (file == NULL) {
        return;
    }
    for (const struct range *s = segments.items; s < segments.items + segments.count; s++) {
        fprintf(file, "touched %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", s->low, s->high, s->count);
    }
    tell_calls(file);
    for (int hart = 0; hart < HARTS; hart++) {
        if (harts[hart] != 0) {
            fprintf(file, "hart %d %" PRIu64 "\n", hart, harts[hart]);
        }
    }
    for (size_t i = 0; i < functions.count; i++) {
        if (functions.items[i].count != 0) {
            fprintf(file, "function %zu %" PRIu64 "\n", i, functions.items[i].count);
        }
    }
    for (int i = 0; i < LAYERS; i++) {
        if (layers[i] == 0) {
            continue;
        }
        fprintf(file, "layer %d %" PRIu64 " %" PRIu64 "\n", i - 1, layers[i], modelled_cycles[i]);
        for (size_t w = 0; w < windows.count; w++) {
            fprintf(file, "traffic %d %zu %" PRIu64 " %" PRIu64 "\n", i - 1, w, traffic[i][w][0], traffic[i][w][1]);
        }
    }
    fprintf(file, "end\n");
    fclose(file);
}

static struct range *add_range(struct list *list, uint64_t low, uint64_t high, unsigned mode)
{
    struct range *range = add(list);
    range->low = low;
    range->high = high;
    range->mode = mode;
    return range;
}

static bool read_line(const char *line)
{
    uint64_t low, high;
    unsigned mode = 0;
    int instruction;
    char word[16];
    if (sscanf(line, "allow %d %" SCNx64 " %" SCNx64 " %u", &instruction, &low, &high, &mode) == 4) {
        add_range(&allowed, low, high, mode)->instruction = instruction;
        return true;
    }
    int fields = sscanf(line, "%15s %" SCNx64 " %" SCNx64 " %u", word, &low, &high, &mode);
    if (fields == 2 && strcmp(word, "entry") == 0) {
        entry = low;
    } else if (fields == 2 && strcmp(word, "words") == 0) {
        word_size = low;
    } else if (fields < 3) {
        return false;
    } else if (strcmp(word, "function") == 0) {
        add_range(&functions, low, high, 0);
    } else if (strcmp(word, "window") == 0 && windows.count < WINDOWS) {
        add_range(&windows, low, high, 0);
    } else if (strcmp(word, "cycles") == 0) {
        read_cycles(low, high, mode);
    } else if (strcmp(word, "wait") == 0) {
        slow = (struct range){.low = low, .high = high, .mode = mode};
    } else if (strcmp(word, "own") == 0) {
        add_range(&owned, low, high, 0);
    } else if (strcmp(word, "leave") == 0) {
        add_range(&leaves, low, high, 0);
    } else if (strcmp(word, "marks") == 0) {
        marks.low = low;
        marks.high = high;
    } else if (strcmp(word, "open") == 0) {
        add_range(&opened, low, high, mode);
        fencing = true;
    } else if (strcmp(word, "guard") == 0) {
        add_range(&guarded, low, high, 0)->map = zeros(high - low + 1);
        fencing = true;
    } else {
        return false;
    }
    return true;
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
                                                              char **argv)
{
    char line[256];
    (void)info;
    (void)argc;
    (void)argv;
    FILE *file = fopen("plugin.cfg", "r");
    if (file == NULL) {
        return -1;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (!read_line(line)) {
            fprintf(stderr, "tilewright plugin: bad line in plugin.cfg: %s", line);
            fclose(file);
            return -1;
        }
    }
    fclose(file);
    if (fencing) {
        open_ranges(-1);
        cut_segments();
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    qemu_plugin_register_atexit_cb(id, on_exit_of_simulator, NULL);
    return 0;
}
