// Compiles CUDA C++ with a host compiler, for tests of Hone's fused kernels on a machine without a GPU. Every
// thread of a block is a fiber, so barriers and shuffles work as on the device. Blocks run one after the
// other; each block of a cluster has its own host thread. It is slow and serves only to check answers. The
// kernel's text is compiled with -DHONE_HOST after this file.
#ifndef __x86_64__
#include <ucontext.h>
#endif

#include <barrier>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#define __device__
#define __forceinline__ inline
#define __global__
#define __launch_bounds__(...)
#define __shared__ static thread_local

struct HoneIndex {
  unsigned x, y, z;
};
static thread_local HoneIndex threadIdx, blockIdx;
static HoneIndex gridDim;
static inline float __int_as_float(int v) {
  float f;
  std::memcpy(&f, &v, 4);
  return f;
}
static inline int __float_as_int(float v) {
  int i;
  std::memcpy(&i, &v, 4);
  return i;
}
static inline float half_to_float(unsigned short bits) {
  _Float16 h;
  std::memcpy(&h, &bits, 2);
  return (float)h;
}
static inline unsigned short float_to_half(float v) {
  _Float16 h = (_Float16)v;
  unsigned short bits;
  std::memcpy(&bits, &h, 2);
  return bits;
}

// A position in a fiber. swapcontext makes a system call for the signal mask at every switch, which takes
// most of a test's time.
#ifdef __x86_64__
struct HoneContext {
  void* stack = nullptr;
  void Start(char* bottom, size_t bytes, void (*enter)()) {
    void** top = (void**)(((size_t)bottom + bytes - 64) & ~size_t{15});
    *top = (void*)enter;
    stack = top - 6;  // six callee-saved registers
  }
};
__attribute__((naked, noinline)) static void hone_switch(HoneContext*, HoneContext*) {
  asm("push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
      "mov %rsp, (%rdi)\n mov (%rsi), %rsp\n"
      "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret");
}
#else
struct HoneContext {
  ucontext_t context;
  void Start(char* bottom, size_t bytes, void (*enter)()) {
    getcontext(&context);
    context.uc_stack.ss_sp = bottom;
    context.uc_stack.ss_size = bytes;
    context.uc_link = nullptr;
    makecontext(&context, enter, 0);
  }
};
static void hone_switch(HoneContext* from, HoneContext* to) {
  swapcontext(&from->context, &to->context);
}
#endif

struct HoneBlock {
  struct Fiber {
    HoneContext context;
    bool done = false;
  };
  std::vector<Fiber> fibers;
  std::vector<std::unique_ptr<char[]>> stacks;
  HoneContext scheduler;
  unsigned current = 0, live = 0;
  unsigned arrived = 0, turn = 0;
  std::vector<unsigned> warp_arrived, warp_turn;
  std::vector<unsigned> words;  // of a shuffle
  std::vector<char> shared;
  std::barrier<>* cluster = nullptr;
  std::vector<char*>* bases = nullptr;
  void (*body)(void*) = nullptr;
  void* argument = nullptr;
};
static thread_local HoneBlock* hone_block = nullptr;
static thread_local char hone_tls_base = 0;

static inline void hone_yield() {
  HoneBlock* b = hone_block;
  const unsigned me = b->current;
  hone_switch(&b->fibers[me].context, &b->scheduler);
  threadIdx.x = me;
}
static inline void __syncthreads() {
  HoneBlock* b = hone_block;
  const unsigned turn = b->turn;
  if (++b->arrived == b->fibers.size()) {
    b->arrived = 0;
    ++b->turn;
  }
  while (b->turn == turn) hone_yield();
}
static inline void hone_syncwarp() {
  HoneBlock* b = hone_block;
  const unsigned w = threadIdx.x / 32, turn = b->warp_turn[w];
  if (++b->warp_arrived[w] == 32) {
    b->warp_arrived[w] = 0;
    ++b->warp_turn[w];
  }
  while (b->warp_turn[w] == turn) hone_yield();
}
static inline unsigned hone_exchange(unsigned v, unsigned from) {
  HoneBlock* b = hone_block;
  b->words[threadIdx.x] = v;
  hone_syncwarp();
  const unsigned got = b->words[threadIdx.x / 32 * 32 + from % 32];
  hone_syncwarp();
  return got;
}
static inline unsigned __shfl_down_sync(unsigned, unsigned v, int d) {
  const unsigned lane = threadIdx.x % 32;
  return hone_exchange(v, lane + d < 32 ? lane + d : lane);
}
static inline unsigned __shfl_up_sync(unsigned, unsigned v, int d) {
  const unsigned lane = threadIdx.x % 32;
  return hone_exchange(v, (int)lane >= d ? lane - d : lane);
}
static inline unsigned __shfl_xor_sync(unsigned, unsigned v, int d) {
  return hone_exchange(v, threadIdx.x % 32 ^ d);
}
static inline unsigned __shfl_sync(unsigned, unsigned v, int lane, int width = 32) {
  return hone_exchange(v, threadIdx.x % 32 / width * width + lane % width);
}
static inline void* hone_dynamic_shared() {
  return hone_block->shared.data();
}
static inline void cluster_sync() {
  __syncthreads();
  if (threadIdx.x == 0) hone_block->cluster->arrive_and_wait();
  __syncthreads();
}
template <class S>
static S peer(const S* mine, int rank) {
  return *(const S*)((*hone_block->bases)[rank] + ((const char*)mine - &hone_tls_base));
}
template <class S>
static void push(S* mine, int rank, const S& state) {
  *(S*)((*hone_block->bases)[rank] + ((char*)mine - &hone_tls_base)) = state;
}

static void hone_enter() {
  HoneBlock* b = hone_block;
  threadIdx.x = b->current;
  b->body(b->argument);
  b->fibers[b->current].done = true;
  hone_switch(&b->fibers[b->current].context, &b->scheduler);
}

static void hone_run_block(void (*body)(void*), void* argument, unsigned block, unsigned threads,
                           size_t shared, std::barrier<>* cluster, std::vector<char*>* bases, unsigned rank) {
  constexpr size_t kStack = 128 * 1024;
  static thread_local HoneBlock b;
  b.fibers = std::vector<HoneBlock::Fiber>(threads);
  while (b.stacks.size() < threads) b.stacks.emplace_back(new char[kStack]);
  b.arrived = b.turn = 0;
  b.warp_arrived.assign(threads / 32 + 1, 0);
  b.warp_turn.assign(threads / 32 + 1, 0);
  b.words.assign(threads, 0);
  b.shared.assign(shared + 64, 0x7f);
  b.cluster = cluster;
  b.bases = bases;
  b.body = body;
  b.argument = argument;
  hone_block = &b;
  blockIdx.x = block;
  if (cluster) {
    (*bases)[rank] = &hone_tls_base;
    cluster->arrive_and_wait();
  }
  for (unsigned i = 0; i < threads; ++i) b.fibers[i].context.Start(b.stacks[i].get(), kStack, hone_enter);
  for (unsigned left = threads; left > 0;) {
    left = 0;
    for (unsigned i = 0; i < threads; ++i) {
      if (b.fibers[i].done) continue;
      b.current = i;
      hone_switch(&b.scheduler, &b.fibers[i].context);
      if (!b.fibers[i].done) ++left;
    }
  }
}

// A kernel without synchronisation between threads needs no fibers.
template <class Body>
static void hone_launch_apart(Body body, unsigned blocks, unsigned threads, unsigned, size_t) {
  for (unsigned i = 0; i < blocks; ++i) {
    blockIdx.x = i;
    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) body();
  }
}

static void hone_launch_body(void (*body)(void*), void* argument, unsigned blocks, unsigned threads,
                             unsigned cluster, size_t shared) {
  gridDim.x = blocks;
  if (cluster <= 1) {
    for (unsigned i = 0; i < blocks; ++i)
      hone_run_block(body, argument, i, threads, shared, nullptr, nullptr, 0);
    return;
  }
  for (unsigned i = 0; i < blocks; i += cluster) {
    std::barrier<> together(cluster);
    std::vector<char*> bases(cluster);
    std::vector<std::thread> hosts;
    for (unsigned r = 0; r < cluster; ++r)
      hosts.emplace_back(
          [&, r] { hone_run_block(body, argument, i + r, threads, shared, &together, &bases, r); });
    for (std::thread& host : hosts) host.join();
  }
}

// All kernels share the code above, because a copy for each would take most of the compile time.
template <class Body>
static void hone_launch(Body body, unsigned blocks, unsigned threads, unsigned cluster, size_t shared) {
  hone_launch_body([](void* at) { (*(Body*)at)(); }, &body, blocks, threads, cluster, shared);
}
