/* Plays the part of the CUDA runtime that the generated file uses, on a machine without a GPU.
 *
 * Streams run at once or, while a capture is under way, record; a graph replays what was recorded, with the arguments
 * of the time of recording. What a capture forbids is refused with CUDA's own codes 900 and 901. Fresh memory is
 * filled with 0xCD. Threads run one after the other, so races and missing barriers do not show.
 */
#ifndef TILEWRIGHT_CUDA_STAND_IN_H
#define TILEWRIGHT_CUDA_STAND_IN_H
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
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
    cudaErrorIllegalState = 401,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed };
enum { cudaStreamNonBlocking = 1 };
typedef std::vector<std::function<void()>> StandInGraph;
struct StandInStream {
    StandInGraph *recording;
    bool invalid;
};
typedef StandInStream *cudaStream_t;
typedef StandInGraph *cudaGraph_t;
typedef StandInGraph *cudaGraphExec_t;
static StandInStream *stand_in_capturing = nullptr;

static inline cudaError_t stand_in_forbidden()
{
    if (stand_in_capturing == nullptr) {
        return cudaSuccess;
    }
    stand_in_capturing->invalid = true;
    return cudaErrorStreamCaptureUnsupported;
}
static inline void stand_in_enqueue(cudaStream_t stream, std::function<void()> work)
{
    if (stream->recording != nullptr) {
        stream->recording->push_back(work);
    } else {
        work();
    }
}
static inline cudaError_t cudaGetLastError() { return cudaSuccess; }
static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    *stream = new StandInStream{nullptr, false};
    return cudaSuccess;
}
static inline cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    delete stream;
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
    std::memset(place, value, size);
    return cudaSuccess;
}
static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind)
{
    if (stand_in_forbidden() != cudaSuccess) {
        return cudaErrorStreamCaptureUnsupported;
    }
    std::memcpy(to, from, size);
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
    if (stream->recording != nullptr) {
        stream->invalid = true;
        return cudaErrorStreamCaptureUnsupported;
    }
    return cudaSuccess;
}
static inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    if (stream->recording != nullptr) {
        return cudaErrorIllegalState;
    }
    stream->recording = new StandInGraph;
    stream->invalid = false;
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
    *made = new StandInGraph(*graph);
    return cudaSuccess;
}
static inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
static inline cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)
{
    if (graph == nullptr || stream->recording != nullptr) {
        return cudaErrorInvalidValue;
    }
    for (const std::function<void()> &work : *graph) {
        work();
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
static inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
    delete graph;
    return cudaSuccess;
}
/* the arguments are copied when the kernel is launched, as CUDA does */
template <class... Parameters, class... Arguments>
static inline void stand_in_launch(
    void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream, Arguments... arguments)
{
    stand_in_enqueue(stream, [=] {
        blockDim = block;
        for (unsigned one = 0; one < grid.x; one++) {
            for (unsigned thread = 0; thread < block.x; thread++) {
                blockIdx = dim3(one);
                threadIdx = dim3(thread);
                kernel(arguments...);
            }
        }
    });
}
#endif
