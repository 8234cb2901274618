// Runs a kernel's functions on the host, block by block and thread by thread, and reduces in the kernel's
// order.
#pragma once

#include <vector>

#include "evaluation/kernels/portable.h"

namespace hone::kernels {

// add(tile, thread, value*) accumulates; join(a, b) merges. Same order as ReduceBlock and MergeAll in
// compare.cu.
template <class Value, class Join>
Value ReduceThreads(std::vector<Value>& values, Join join) {
  for (unsigned stride = kThreads / 2; stride > 0; stride /= 2)
    for (unsigned thread = 0; thread < stride; ++thread)
      values[thread] = join(values[thread], values[thread + stride]);
  return values[0];
}

template <class Value, class Add, class Join>
Value RunOnHost(uint64_t tiles, Add add, Join join) {
  const unsigned blocks = BlocksFor(tiles);
  std::vector<Value> merged(kThreads);
  for (unsigned block = 0; block < blocks; ++block) {
    std::vector<Value> threads(kThreads);
    for (uint64_t tile = block; tile < tiles; tile += blocks)
      for (unsigned thread = 0; thread < kThreads; ++thread) add(tile, thread, &threads[thread]);
    Value& slot = merged[block % kThreads];
    slot = join(slot, ReduceThreads(threads, join));
  }
  return ReduceThreads(merged, join);
}

}  // namespace hone::kernels
