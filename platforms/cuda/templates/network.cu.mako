/* ${m.name}: ${m.summary}
 *
 * Written by ${m.tool} from a model with the SHA-256 ${m.sha256 or "unknown"}.
 * It asks for no licence notice: it is the user's own.
 *
 * nvcc -std=c++17 -arch=sm_90 -O3 -fmad=false --shared -Xcompiler -fPIC network.cu -o network.so
 * g++ -std=c++17 -x c++ -O2 -ffp-contract=off -shared -fPIC network.cu -o network.so     (stand-in, no GPU)
 */
#ifdef __CUDACC__
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#define LAUNCH(kernel, grid, block, stream, ...) kernel<<<grid, block, 0, stream>>>(__VA_ARGS__)
#define RANK ((long long)cooperative_groups::this_grid().thread_rank())
#define THREADS ((long long)cooperative_groups::this_grid().size())
#define BARRIER cooperative_groups::this_grid().sync()
#else
#include "${m.stand_in}"
#define LAUNCH(kernel, grid, block, stream, ...) stand_in_launch(kernel, dim3(grid), dim3(block), stream, __VA_ARGS__)
#define RANK stand_in_rank()
#define THREADS stand_in_threads()
#define BARRIER stand_in_barrier()
#endif
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define restrict __restrict__
#define TILEWRIGHT_VECTORISED /* for gcc on a host */
#define CHECK(call) do { const int code_ = (int)(call); if (code_ != 0) { return code_; } } while (0)
#define REFUSE_IF(condition) do { if (condition) { return 1; /* cudaErrorInvalidValue */ } } while (0)

enum { BLOCK = 128, REGIONS = ${m.most_regions}, SLOTS = ${m.slot_count} };
static const size_t ARENA_BYTES = ${m.arena_bytes};
static const size_t SAMPLE_BYTES = ${m.sample_bytes};

/* every constant of the network, uploaded once */
static const uint64_t WEIGHTS[${m.frozen_words}] = {
    ${m.frozen_text}
};

% for source in m.sources:
${source}

% endfor
% for function in m.functions:
${function}

% endfor
% for launch in m.launches:
% for step in launch.steps:
/* ${step.index}: ${step.comment} */
static __device__ void step_${step.index}(const int element, unsigned char *memory, const unsigned char *frozen)
{
    (void)element;
    (void)frozen;
    ${step.function}(${step.arguments});
}

% endfor
static __device__ void sweep_${launch.first}(const long long at, unsigned char *memory, const unsigned char *frozen)
{
    const int element = (int)(at % ${launch.elements});
    unsigned char *const own = memory + (size_t)(at / ${launch.elements}) * ${m.sample_bytes};
% for step in launch.steps:
    step_${step.index}(element, own, frozen);
% endfor
}

static __global__ void kernel_${launch.first}(unsigned char *memory, const unsigned char *frozen, const int samples)
{
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < (long long)samples * ${launch.elements}) {
        sweep_${launch.first}(at, memory, frozen);
    }
}

% for step in launch.alone:
/* the same instruction without its sweep, for a range that holds only a part of that */
static __global__ void alone_${step.index}(unsigned char *memory, const unsigned char *frozen, const int samples)
{
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < (long long)samples * ${step.elements}) {
        unsigned char *const own = memory + (size_t)(at / ${step.elements}) * ${m.sample_bytes};
        step_${step.index}((int)(at % ${step.elements}), own, frozen);
    }
}

% endfor
% endfor
/* the whole plan in one launch: sweep after sweep, a barrier of all threads between them */
static __global__ void megakernel(unsigned char *memory, const unsigned char *frozen, const int samples)
{
% for launch in m.launches:
    for (long long at = RANK; at < (long long)samples * ${launch.elements}; at += THREADS) {
        sweep_${launch.first}(at, memory, frozen);
    }
    BARRIER;
% endfor
}

static unsigned char *memory, *frozen;
static cudaStream_t stream;
static int samples, resident_blocks;
static cudaGraphExec_t graphs[REGIONS];
static int graph_nodes[REGIONS];
% for port in (*m.inputs, *m.outputs):
<% word = "input" if port in m.inputs else "output" %>\
static unsigned char *${word}_${port.index}; /* pinned: ${port.comment} */
% endfor
static const size_t SLOT_OFFSETS[SLOTS] = {${m.slot_offsets}};

static unsigned blocks(const long long elements)
{
    return (unsigned)((elements * samples + BLOCK - 1) / BLOCK);
}

/* Launches the instruction at `index`, or the sweep that begins there where all of it lies before `end`. */
static int launch(const int index, const int end, int *const next)
{
    (void)end;
    *next = index + 1;
    switch (index) {
% for launch in m.launches:
% if launch.alone:
    case ${launch.first}:
        if (end >= ${launch.end}) {
            LAUNCH(kernel_${launch.first}, blocks(${launch.elements}), BLOCK, stream, memory, frozen, samples);
            *next = ${launch.end};
        } else {
            LAUNCH(alone_${launch.first}, blocks(${launch.elements}), BLOCK, stream, memory, frozen, samples);
        }
        break;
% for step in launch.alone[1:]:
    case ${step.index}:
        LAUNCH(alone_${step.index}, blocks(${step.elements}), BLOCK, stream, memory, frozen, samples);
        break;
% endfor
% else:
    case ${launch.first}:
        LAUNCH(kernel_${launch.first}, blocks(${launch.elements}), BLOCK, stream, memory, frozen, samples);
        break;
% endif
% endfor
    default:
        return 1; /* cudaErrorInvalidValue */
    }
    return (int)cudaGetLastError();
}

#define EXPORT extern "C" __attribute__((visibility("default"))) int

/* Frees everything, also what a failed `init` left; the first error, after all has been tried. */
EXPORT ${m.name}_destroy(void)
{
    int first = 0, code = 0;
#define KEEP(call) do { code = (int)(call); first = first != 0 ? first : code; } while (0)
    for (int region = 0; region < REGIONS; region++) {
        if (graphs[region] != nullptr) {
            KEEP(cudaGraphExecDestroy(graphs[region]));
            graphs[region] = nullptr;
        }
    }
    if (stream != nullptr) {
        KEEP(cudaStreamSynchronize(stream));
    }
    if (memory != nullptr) {
        KEEP(cudaFree(memory));
        memory = nullptr;
    }
    if (frozen != nullptr) {
        KEEP(cudaFree(frozen));
        frozen = nullptr;
    }
% for port in (*m.inputs, *m.outputs):
<% word = "input" if port in m.inputs else "output" %>\
    if (${word}_${port.index} != nullptr) {
        KEEP(cudaFreeHost(${word}_${port.index}));
        ${word}_${port.index} = nullptr;
    }
% endfor
    if (stream != nullptr) {
        KEEP(cudaStreamDestroy(stream));
        stream = nullptr;
    }
#undef KEEP
    return first;
}

/* On the stream that the kernels run on: nothing orders it after work on the legacy stream. */
static int set_up(const int count)
{
    samples = count;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc((void **)&memory, SAMPLE_BYTES * (size_t)count));
    CHECK(cudaMemsetAsync(memory, 0, SAMPLE_BYTES * (size_t)count, stream));
    CHECK(cudaMalloc((void **)&frozen, sizeof WEIGHTS));
    CHECK(cudaMemcpyAsync(frozen, WEIGHTS, sizeof WEIGHTS, cudaMemcpyHostToDevice, stream));
% for port in m.inputs:
    CHECK(cudaMallocHost((void **)&input_${port.index}, ${port.size_bytes} * (size_t)count));
% endfor
% for port in m.outputs:
    CHECK(cudaMallocHost((void **)&output_${port.index}, ${port.size_bytes} * (size_t)count));
% endfor
#ifdef __CUDACC__
    /* lazy loading inside of a capture is an error: touch every kernel now */
    cudaFuncAttributes attributes;
% for launch in m.launches:
    CHECK(cudaFuncGetAttributes(&attributes, kernel_${launch.first}));
% for step in launch.alone:
    CHECK(cudaFuncGetAttributes(&attributes, alone_${step.index}));
% endfor
% endfor
    int device = 0, processors = 0, each = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, megakernel, BLOCK, 0));
    resident_blocks = processors * each;
#else
    resident_blocks = 2;
#endif
    return (int)cudaStreamSynchronize(stream);
}

/* Memory for `count` samples, weights on the device, every kernel loaded; where it fails, nothing stays behind. */
EXPORT ${m.name}_init(const int count)
{
    REFUSE_IF(count < 1);
    CHECK(${m.name}_destroy());
    const int code = set_up(count);
    if (code != 0) {
        (void)${m.name}_destroy();
        (void)cudaGetLastError();
    }
    return code;
}

EXPORT ${m.name}_poison(const int byte)
{
    REFUSE_IF(memory == nullptr);
    for (int sample = 0; sample < samples; sample++) {
        CHECK(cudaMemsetAsync(memory + SAMPLE_BYTES * (size_t)sample, byte, ARENA_BYTES, stream));
    }
    return (int)cudaStreamSynchronize(stream);
}

EXPORT ${m.name}_write(const int slot, const int sample, const void *data, const size_t size)
{
    REFUSE_IF(memory == nullptr || slot < 0 || slot >= SLOTS || sample < 0 || sample >= samples);
    REFUSE_IF(size > SAMPLE_BYTES - SLOT_OFFSETS[slot]);
    unsigned char *const place = memory + SAMPLE_BYTES * (size_t)sample + SLOT_OFFSETS[slot];
    CHECK(cudaMemcpyAsync(place, data, size, cudaMemcpyHostToDevice, stream));
    return (int)cudaStreamSynchronize(stream);
}

EXPORT ${m.name}_read(const int slot, const int sample, void *data, const size_t size)
{
    REFUSE_IF(memory == nullptr || slot < 0 || slot >= SLOTS || sample < 0 || sample >= samples);
    REFUSE_IF(size > SAMPLE_BYTES - SLOT_OFFSETS[slot]);
    const unsigned char *const place = memory + SAMPLE_BYTES * (size_t)sample + SLOT_OFFSETS[slot];
    CHECK(cudaMemcpyAsync(data, place, size, cudaMemcpyDeviceToHost, stream));
    return (int)cudaStreamSynchronize(stream);
}

/* Where the caller puts an input and finds an output: all samples one after the other, pinned. */
EXPORT ${m.name}_staging(const int is_output, const int index, void **place)
{
    *place = nullptr;
% for port in m.inputs:
    if (is_output == 0 && index == ${port.index}) {
        *place = input_${port.index};
    }
% endfor
% for port in m.outputs:
    if (is_output != 0 && index == ${port.index}) {
        *place = output_${port.index};
    }
% endfor
    return *place == nullptr;
}

EXPORT ${m.name}_copy_in(void)
{
    REFUSE_IF(memory == nullptr);
% for port in m.inputs:
    CHECK(cudaMemcpy2DAsync(memory + ${port.offset}, SAMPLE_BYTES, input_${port.index}, ${port.size_bytes}, ${port.size_bytes}, (size_t)samples, cudaMemcpyHostToDevice, stream));
% endfor
    return 0;
}

EXPORT ${m.name}_copy_out(void)
{
    REFUSE_IF(memory == nullptr);
% for port in m.outputs:
    CHECK(cudaMemcpy2DAsync(output_${port.index}, ${port.size_bytes}, memory + ${port.offset}, SAMPLE_BYTES, ${port.size_bytes}, (size_t)samples, cudaMemcpyDeviceToHost, stream));
% endfor
    return 0;
}

EXPORT ${m.name}_advance_state(void)
{
    REFUSE_IF(memory == nullptr);
% for move in m.moves:
    CHECK(cudaMemcpy2DAsync(memory + ${move.target}, SAMPLE_BYTES, memory + ${move.source}, SAMPLE_BYTES, ${move.size_bytes}, (size_t)samples, cudaMemcpyDeviceToDevice, stream));
% endfor
    return 0;
}

EXPORT ${m.name}_run_range(const int start, const int end)
{
    REFUSE_IF(memory == nullptr || start < 0 || end < start || end > ${m.instruction_count});
    for (int index = start, next = start; index < end; index = next) {
        CHECK(launch(index, end, &next));
    }
    return 0;
}

EXPORT ${m.name}_run_megakernel(void)
{
    REFUSE_IF(memory == nullptr);
    unsigned wanted = 1;
% for elements in sorted({launch.elements for launch in m.launches}):
    wanted = blocks(${elements}) > wanted ? blocks(${elements}) : wanted;
% endfor
    const unsigned grid = wanted < (unsigned)resident_blocks ? wanted : (unsigned)resident_blocks;
#ifdef __CUDACC__
    void *arguments[] = {(void *)&memory, (void *)&frozen, (void *)&samples};
    return (int)cudaLaunchCooperativeKernel((const void *)megakernel, dim3(grid), dim3(BLOCK), arguments, 0, stream);
#else
    stand_in_launch_cooperative(megakernel, dim3(grid), dim3(BLOCK), stream, memory, frozen, samples);
    return (int)cudaGetLastError();
#endif
}

EXPORT ${m.name}_begin_capture(void)
{
    REFUSE_IF(memory == nullptr);
    return (int)cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
}

EXPORT ${m.name}_end_capture(const int region)
{
    cudaGraph_t graph = nullptr;
    REFUSE_IF(memory == nullptr);
    const int ended = (int)cudaStreamEndCapture(stream, &graph);
    if (ended != 0 || region < 0 || region >= REGIONS || graphs[region] != nullptr) {
        (void)cudaGetLastError();
        if (graph != nullptr) {
            (void)cudaGraphDestroy(graph);
        }
        return ended != 0 ? ended : 1;
    }
    size_t count = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &count));
    graph_nodes[region] = (int)count;
    const int made = (int)cudaGraphInstantiate(&graphs[region], graph, 0);
    CHECK(cudaGraphDestroy(graph));
    CHECK(made);
    return (int)cudaGraphUpload(graphs[region], stream);
}

EXPORT ${m.name}_replay(const int region)
{
    REFUSE_IF(memory == nullptr || region < 0 || region >= REGIONS || graphs[region] == nullptr);
    return (int)cudaGraphLaunch(graphs[region], stream);
}

EXPORT ${m.name}_drop(const int region)
{
    REFUSE_IF(region < 0 || region >= REGIONS);
    if (graphs[region] != nullptr) {
        CHECK(cudaGraphExecDestroy(graphs[region]));
        graphs[region] = nullptr;
    }
    return 0;
}

EXPORT ${m.name}_nodes(const int region)
{
    return region < 0 || region >= REGIONS ? 0 : graph_nodes[region];
}

EXPORT ${m.name}_sync(void)
{
    REFUSE_IF(memory == nullptr);
    return (int)cudaStreamSynchronize(stream);
}

EXPORT ${m.name}_address(const int slot, unsigned long long *address)
{
    REFUSE_IF(memory == nullptr || slot < 0 || slot >= SLOTS);
    *address = (unsigned long long)(uintptr_t)(memory + SLOT_OFFSETS[slot]);
    return 0;
}
