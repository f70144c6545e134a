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
#define RANK 0LL
#define THREADS 1LL
#define BARRIER
#endif
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define restrict __restrict__
#define CHECK(call) do { const int code_ = (int)(call); if (code_ != 0) { return code_; } } while (0)

enum { BLOCK = 128, REGIONS = 64 };
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
static const size_t SLOT_OFFSETS[] = {${m.slot_offsets}};

static unsigned blocks(const long long elements)
{
    return (unsigned)((elements * samples + BLOCK - 1) / BLOCK);
}

static int launch(const int index)
{
    switch (index) {
% for launch in m.launches:
    case ${launch.first}:
        LAUNCH(kernel_${launch.first}, blocks(${launch.elements}), BLOCK, stream, memory, frozen, samples);
        break;
% endfor
    default: /* a member of a sweep that began before it */
        return 0;
    }
    return (int)cudaGetLastError();
}

#define EXPORT extern "C" __attribute__((visibility("default"))) int

EXPORT ${m.name}_destroy(void)
{
    for (int region = 0; region < REGIONS; region++) {
        if (graphs[region] != nullptr) {
            CHECK(cudaGraphExecDestroy(graphs[region]));
            graphs[region] = nullptr;
        }
    }
    CHECK(cudaFree(memory));
    CHECK(cudaFree(frozen));
    memory = nullptr;
    frozen = nullptr;
% for port in m.inputs:
    CHECK(cudaFreeHost(input_${port.index}));
    input_${port.index} = nullptr;
% endfor
% for port in m.outputs:
    CHECK(cudaFreeHost(output_${port.index}));
    output_${port.index} = nullptr;
% endfor
    if (stream != nullptr) {
        CHECK(cudaStreamDestroy(stream));
        stream = nullptr;
    }
    return 0;
}

/* Memory for `count` samples, weights on the device, every kernel loaded. */
EXPORT ${m.name}_init(const int count)
{
    samples = count;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc((void **)&memory, SAMPLE_BYTES * (size_t)count));
    CHECK(cudaMemset(memory, 0, SAMPLE_BYTES * (size_t)count));
    CHECK(cudaMalloc((void **)&frozen, sizeof WEIGHTS));
    CHECK(cudaMemcpy(frozen, WEIGHTS, sizeof WEIGHTS, cudaMemcpyHostToDevice));
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
% endfor
    int device = 0, processors = 0, each = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, megakernel, BLOCK, 0));
    resident_blocks = processors * each;
#else
    resident_blocks = 1;
#endif
    return (int)cudaStreamSynchronize(stream);
}

EXPORT ${m.name}_poison(const int byte)
{
    for (int sample = 0; sample < samples; sample++) {
        CHECK(cudaMemsetAsync(memory + SAMPLE_BYTES * (size_t)sample, byte, ARENA_BYTES, stream));
    }
    return (int)cudaStreamSynchronize(stream);
}

EXPORT ${m.name}_write(const int slot, const int sample, const void *data, const size_t size)
{
    unsigned char *const place = memory + SAMPLE_BYTES * (size_t)sample + SLOT_OFFSETS[slot];
    CHECK(cudaMemcpyAsync(place, data, size, cudaMemcpyHostToDevice, stream));
    return (int)cudaStreamSynchronize(stream);
}

EXPORT ${m.name}_read(const int slot, const int sample, void *data, const size_t size)
{
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
% for port in m.inputs:
    CHECK(cudaMemcpy2DAsync(memory + ${port.offset}, SAMPLE_BYTES, input_${port.index}, ${port.size_bytes}, ${port.size_bytes}, (size_t)samples, cudaMemcpyHostToDevice, stream));
% endfor
    return 0;
}

EXPORT ${m.name}_copy_out(void)
{
% for port in m.outputs:
    CHECK(cudaMemcpy2DAsync(output_${port.index}, ${port.size_bytes}, memory + ${port.offset}, SAMPLE_BYTES, ${port.size_bytes}, (size_t)samples, cudaMemcpyDeviceToHost, stream));
% endfor
    return 0;
}

EXPORT ${m.name}_advance_state(void)
{
% for move in m.moves:
    CHECK(cudaMemcpy2DAsync(memory + ${move.target}, SAMPLE_BYTES, memory + ${move.source}, SAMPLE_BYTES, ${move.size_bytes}, (size_t)samples, cudaMemcpyDeviceToDevice, stream));
% endfor
    return 0;
}

EXPORT ${m.name}_run_range(const int start, const int end)
{
    if (start < 0 || end < start || end > ${m.instruction_count}) {
        return 1; /* cudaErrorInvalidValue */
    }
    for (int index = start; index < end; index++) {
        CHECK(launch(index));
    }
    return 0;
}

EXPORT ${m.name}_run_megakernel(void)
{
    unsigned wanted = 1;
% for elements in sorted({launch.elements for launch in m.launches}):
    wanted = blocks(${elements}) > wanted ? blocks(${elements}) : wanted;
% endfor
    const unsigned grid = wanted < (unsigned)resident_blocks ? wanted : (unsigned)resident_blocks;
#ifdef __CUDACC__
    void *arguments[] = {(void *)&memory, (void *)&frozen, (void *)&samples};
    return (int)cudaLaunchCooperativeKernel((const void *)megakernel, dim3(grid), dim3(BLOCK), arguments, 0, stream);
#else
    stand_in_launch(megakernel, dim3(grid), dim3(1), stream, memory, frozen, samples);
    return 0;
#endif
}

EXPORT ${m.name}_begin_capture(void)
{
    return (int)cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
}

EXPORT ${m.name}_end_capture(const int region)
{
    cudaGraph_t graph = nullptr;
    const int ended = (int)cudaStreamEndCapture(stream, &graph);
    if (ended != 0 || region < 0 || region >= REGIONS) {
        (void)cudaGetLastError();
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
    return (int)cudaGraphLaunch(graphs[region], stream);
}

EXPORT ${m.name}_drop(const int region)
{
    if (graphs[region] != nullptr) {
        CHECK(cudaGraphExecDestroy(graphs[region]));
        graphs[region] = nullptr;
    }
    return 0;
}

EXPORT ${m.name}_nodes(const int region)
{
    return graph_nodes[region];
}

EXPORT ${m.name}_sync(void)
{
    return (int)cudaStreamSynchronize(stream);
}

EXPORT ${m.name}_address(const int slot, unsigned long long *address)
{
    *address = (unsigned long long)(uintptr_t)(memory + SLOT_OFFSETS[slot]);
    return 0;
}
