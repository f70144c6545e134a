/* Plays the part of the CUDA runtime that the generated file uses, on a machine without a GPU.
 *
 * It is as unfriendly as CUDA may be. A stream's work waits until somebody synchronises with that stream; what the
 * legacy stream was given waits until the whole device is, since nothing orders it before a non-blocking stream. While
 * a capture is under way, its stream records; a graph replays what was recorded, with the arguments of the time of
 * recording. What a capture forbids is refused with CUDA's own codes 900 and 901, by the mode and the thread of the
 * capture; a launch that no GPU would take is refused with code 9. Fresh memory is filled with 0xCD. The threads of a
 * kernel run one after the other, in turn from the first and from the last; those of a cooperative launch each run to
 * the next barrier, so that a missing one shows. Alignment faults and speed do not show.
 */
#ifndef TILEWRIGHT_CUDA_STAND_IN_H
#define TILEWRIGHT_CUDA_STAND_IN_H
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>
#define __global__
#define __device__
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
static thread_local dim3 blockIdx, threadIdx, blockDim;
typedef int cudaError_t;
enum {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorIllegalState = 401,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901
};
enum { STAND_IN_MOST_THREADS = 1024, STAND_IN_STACK_BYTES = 256 * 1024 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed };
enum { cudaStreamNonBlocking = 1 };
typedef std::vector<std::function<void()>> StandInWork;
struct StandInStream {
    StandInWork queue;
    StandInWork *recording;
    bool invalid;
    cudaStreamCaptureMode mode;
    std::thread::id thread;
};
typedef StandInStream *cudaStream_t;
typedef StandInWork *cudaGraph_t;
typedef StandInWork *cudaGraphExec_t;
static StandInStream *stand_in_capturing = nullptr;
static std::vector<StandInStream *> stand_in_streams;
static StandInWork stand_in_legacy;
static cudaError_t stand_in_last_error = cudaSuccess;
static unsigned stand_in_launches = 0;

/* whether a capture forbids this thread what is not stream-ordered */
static inline cudaError_t stand_in_forbidden()
{
    const StandInStream *const stream = stand_in_capturing;
    if (stream == nullptr || stream->mode == cudaStreamCaptureModeRelaxed ||
        (stream->mode == cudaStreamCaptureModeThreadLocal && stream->thread != std::this_thread::get_id())) {
        return cudaSuccess;
    }
    stand_in_capturing->invalid = true;
    return cudaErrorStreamCaptureUnsupported;
}
static inline void stand_in_finish(StandInWork &queue)
{
    StandInWork now;
    now.swap(queue);
    for (const std::function<void()> &work : now) {
        work();
    }
}
static inline void stand_in_finish_all()
{
    for (StandInStream *const stream : stand_in_streams) {
        stand_in_finish(stream->queue);
    }
    stand_in_finish(stand_in_legacy);
}
static inline void stand_in_enqueue(cudaStream_t stream, std::function<void()> work)
{
    (stream == nullptr ? stand_in_legacy : stream->recording != nullptr ? *stream->recording : stream->queue)
        .push_back(work);
}
static inline cudaError_t cudaGetLastError()
{
    const cudaError_t last = stand_in_last_error;
    stand_in_last_error = cudaSuccess;
    return last;
}
static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    *stream = new StandInStream{{}, nullptr, false, cudaStreamCaptureModeGlobal, {}};
    stand_in_streams.push_back(*stream);
    return cudaSuccess;
}
static inline cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    stand_in_finish(stream->queue);
    for (size_t at = 0; at < stand_in_streams.size(); at++) {
        if (stand_in_streams[at] == stream) {
            stand_in_streams.erase(stand_in_streams.begin() + (std::ptrdiff_t)at);
        }
    }
    delete stream;
    return cudaSuccess;
}
static inline cudaError_t cudaDeviceSynchronize()
{
    if (stand_in_forbidden() != cudaSuccess) {
        return cudaErrorStreamCaptureUnsupported;
    }
    stand_in_finish_all();
    return cudaSuccess;
}
static inline cudaError_t cudaMalloc(void **place, size_t size)
{
    if (stand_in_forbidden() != cudaSuccess) {
        return cudaErrorStreamCaptureUnsupported;
    }
    *place = std::malloc(size != 0 ? size : 1);
    if (*place == nullptr) {
        return cudaErrorMemoryAllocation;
    }
    std::memset(*place, 0xCD, size);
    return cudaSuccess;
}
static inline cudaError_t cudaFree(void *place)
{
    if (stand_in_forbidden() != cudaSuccess) {
        return cudaErrorStreamCaptureUnsupported;
    }
    stand_in_finish_all();
    std::free(place);
    return cudaSuccess;
}
static inline cudaError_t cudaMallocHost(void **place, size_t size) { return cudaMalloc(place, size); }
static inline cudaError_t cudaFreeHost(void *place) { return cudaFree(place); }
static inline cudaError_t cudaMemset(void *place, int value, size_t size)
{
    if (stand_in_forbidden() != cudaSuccess) {
        return cudaErrorStreamCaptureUnsupported;
    }
    stand_in_enqueue(nullptr, [=] { std::memset(place, value, size); });
    return cudaSuccess;
}
/* to the device it may return once the bytes are staged; only what comes back to the host has been waited for */
static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
    if (stand_in_forbidden() != cudaSuccess) {
        return cudaErrorStreamCaptureUnsupported;
    }
    if (kind == cudaMemcpyDeviceToHost) {
        stand_in_finish(stand_in_legacy);
        std::memcpy(to, from, size);
    } else if (kind == cudaMemcpyHostToDevice) {
        const std::vector<char> staged((const char *)from, (const char *)from + size);
        stand_in_enqueue(nullptr, [=] { std::memcpy(to, staged.data(), staged.size()); });
    } else {
        stand_in_enqueue(nullptr, [=] { std::memcpy(to, from, size); });
    }
    return cudaSuccess;
}
static inline cudaError_t cudaMemsetAsync(void *place, int value, size_t size, cudaStream_t stream)
{
    stand_in_enqueue(stream, [=] { std::memset(place, value, size); });
    return cudaSuccess;
}
static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind, cudaStream_t stream)
{
    stand_in_enqueue(stream, [=] { std::memcpy(to, from, size); });
    return cudaSuccess;
}
static inline cudaError_t cudaMemcpy2DAsync(
    void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind,
    cudaStream_t stream)
{
    if (width > to_pitch || width > from_pitch) {
        return cudaErrorInvalidValue;
    }
    stand_in_enqueue(stream, [=] {
        for (size_t row = 0; row < height; row++) {
            std::memcpy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
        }
    });
    return cudaSuccess;
}
static inline cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (stream == nullptr) {
        stand_in_finish(stand_in_legacy);
        return cudaSuccess;
    }
    if (stream->recording != nullptr) {
        stream->invalid = true;
        return cudaErrorStreamCaptureUnsupported;
    }
    stand_in_finish(stream->queue);
    return cudaSuccess;
}
static inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    if (stream->recording != nullptr) {
        return cudaErrorIllegalState;
    }
    stream->recording = new StandInWork;
    stream->invalid = false;
    stream->mode = mode;
    stream->thread = std::this_thread::get_id();
    stand_in_capturing = stream;
    return cudaSuccess;
}
static inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    *graph = stream->recording;
    stream->recording = nullptr;
    stand_in_capturing = nullptr;
    if (*graph == nullptr) {
        return cudaErrorIllegalState;
    }
    if (stream->invalid) {
        delete *graph;
        *graph = nullptr;
        return cudaErrorStreamCaptureInvalidated;
    }
    return cudaSuccess;
}
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long)
{
    *made = new StandInWork(*graph);
    return cudaSuccess;
}
static inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
static inline cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)
{
    if (graph == nullptr || stream->recording != nullptr) {
        return cudaErrorInvalidValue;
    }
    for (const std::function<void()> &work : *graph) {
        stand_in_enqueue(stream, work);
    }
    return cudaSuccess;
}
static inline cudaError_t cudaGraphGetNodes(cudaGraph_t graph, void *, size_t *count)
{
    *count = graph->size();
    return cudaSuccess;
}
static inline cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}
/* a launch that is under way keeps its graph: what it enqueued was copied */
static inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
    delete graph;
    return cudaSuccess;
}
static inline bool stand_in_takes(dim3 grid, dim3 block)
{
    if (grid.x == 0 || grid.x > 0x7fffffffu || block.x == 0 || block.x > STAND_IN_MOST_THREADS) {
        stand_in_last_error = cudaErrorInvalidConfiguration;
        return false;
    }
    return true;
}
/* the arguments are copied when the kernel is launched, as CUDA does */
template <class... Parameters, class... Arguments>
static inline void stand_in_launch(
    void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream, Arguments... arguments)
{
    if (!stand_in_takes(grid, block)) {
        return;
    }
    stand_in_enqueue(stream, [=] {
        const bool backwards = stand_in_launches++ % 2 != 0;
        const size_t threads = (size_t)grid.x * block.x;
        blockDim = block;
        for (size_t turn = 0; turn < threads; turn++) {
            const size_t at = backwards ? threads - 1 - turn : turn;
            blockIdx = dim3((unsigned)(at / block.x));
            threadIdx = dim3((unsigned)(at % block.x));
            kernel(arguments...);
        }
    });
}

/* Cooperative launches: every thread has a stack of its own and runs until the barrier, where the next one goes on. */
struct StandInGrid {
    std::vector<ucontext_t> threads;
    std::vector<bool> ended;
    std::unique_ptr<char[]> stacks;
    ucontext_t caller;
    size_t now;
    const std::function<void()> *body;
};
static StandInGrid *stand_in_grid = nullptr;
static inline long long stand_in_rank() { return (long long)stand_in_grid->now; }
static inline long long stand_in_threads() { return (long long)stand_in_grid->threads.size(); }
static inline void stand_in_barrier()
{
    (void)swapcontext(&stand_in_grid->threads[stand_in_grid->now], &stand_in_grid->caller);
}
static inline void stand_in_thread()
{
    (*stand_in_grid->body)();
    stand_in_grid->ended[stand_in_grid->now] = true;
    (void)setcontext(&stand_in_grid->caller);
}
static inline void stand_in_prepare(const size_t at)
{
    ucontext_t *const thread = &stand_in_grid->threads[at];
    (void)getcontext(thread);
    thread->uc_stack.ss_sp = stand_in_grid->stacks.get() + at * STAND_IN_STACK_BYTES;
    thread->uc_stack.ss_size = STAND_IN_STACK_BYTES;
    thread->uc_link = nullptr;
    makecontext(thread, stand_in_thread, 0);
}
/* every thread that has not ended runs to its next barrier; whether one is left */
static inline bool stand_in_phase(const bool backwards)
{
    StandInGrid *const grid = stand_in_grid;
    bool left = false;
    for (size_t turn = 0; turn < grid->threads.size(); turn++) {
        grid->now = backwards ? grid->threads.size() - 1 - turn : turn;
        if (!grid->ended[grid->now]) {
            (void)swapcontext(&grid->caller, &grid->threads[grid->now]);
            left = left || !grid->ended[grid->now];
        }
    }
    return left;
}
static inline void stand_in_run_cooperative(const size_t threads, const std::function<void()> &body)
{
    StandInGrid grid;
    grid.threads.resize(threads);
    grid.ended.assign(threads, false);
    grid.stacks.reset(new char[threads * STAND_IN_STACK_BYTES]);
    grid.body = &body;
    stand_in_grid = &grid;
    for (size_t at = 0; at < threads; at++) {
        stand_in_prepare(at);
    }
    for (bool backwards = false; stand_in_phase(backwards); backwards = !backwards) {
    }
    stand_in_grid = nullptr;
}
template <class... Parameters, class... Arguments>
static inline void stand_in_launch_cooperative(
    void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream, Arguments... arguments)
{
    if (!stand_in_takes(grid, block)) {
        return;
    }
    stand_in_enqueue(stream, [=] {
        stand_in_run_cooperative((size_t)grid.x * block.x, [=] { kernel(arguments...); });
    });
}
#endif
