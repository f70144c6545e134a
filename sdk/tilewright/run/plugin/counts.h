/* Part of tilewright.c: counts instructions, and cycles by a model of the core. The cycles of an instruction are known when
 * it is translated (a table by address, made from the listing); what depends on the way taken is added when it runs.
 *   cycles LO HI N       plugin.cyc holds the cycles of each half-word of code from LO to HI, a taken branch adds N more
 *   wait LO HI N         slow memory: a load adds N cycles, and a branch into it */
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
static struct range modelled, slow;

/* An instruction that is counted: its function, its modelled cycles, where it lies and ends. */
struct counted {
    struct range *function;
    uint64_t pc, end;
    unsigned cycles;
};

static uint64_t modelled_cycles[LAYERS], follows;

/* Instructions of each call of the model, in all harts. */
enum { CALLS = 65536 };
static uint64_t calls[CALLS], total, call_begin;
static size_t call_count;

/* The model begins where it did not run before, or its caller goes on. */
static void count_call(bool begins)
{
    if (watching && !begins && call_count < CALLS) {
        calls[call_count++] = total - call_begin;
    } else if (!watching && begins) {
        call_begin = total;
    }
}

static void tell_calls(FILE *file)
{
    for (size_t i = 0; i < call_count && call_count > 1; i++) {
        fprintf(file, "call %" PRIu64 "\n", calls[i]);
    }
}

static void on_instruction(unsigned hart, void *data)
{
    const struct counted *this = data;
    if (watching) {
        harts[hart % HARTS]++;
        layers[layer]++;
        total++;
        if (this->function != NULL) {
            this->function->count++;
        }
        if (modelled.map != NULL) {
            modelled_cycles[layer] += this->cycles;
            if (this->pc != follows) {
                modelled_cycles[layer] += modelled.mode + (this->pc >= slow.low && this->pc < slow.high ? slow.mode : 0);
            }
            follows = this->end;
        }
    }
}

/* What is told of an instruction each time that it runs. Kept for good: a translation may be run at any later time. */
static struct counted *describe(const struct qemu_plugin_insn *instruction, uint64_t pc)
{
    struct counted *found = malloc(sizeof *found);
    if (found == NULL) {
        abort();
    }
    found->function = find(&functions, pc);
    found->pc = pc;
    found->end = pc + qemu_plugin_insn_size(instruction);
    found->cycles = modelled.map != NULL && pc >= modelled.low && pc < modelled.high ? modelled.map[(pc - modelled.low) / 2] : 1;
    return found;
}

static void read_cycles(uint64_t low, uint64_t high, unsigned refill)
{
    size_t size = (size_t)(high - low) / 2;
    FILE *file = fopen("plugin.cyc", "rb");
    modelled.map = malloc(size + 1);
    if (file == NULL || modelled.map == NULL || fread(modelled.map, 1, size, file) != size) {
        abort();
    }
    fclose(file);
    modelled.low = low;
    modelled.high = high;
    modelled.mode = refill;
}
