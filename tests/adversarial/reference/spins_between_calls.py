"""Right and no faster than the reference, but between calls its threads keep every core busy, so that a reference
timed meanwhile looks slow. The threads end by themselves after two minutes."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = not_accepted
# hone-test: reason = slower|timer-tampering|escaped
import os

import hone_ext
import torch
import torch.nn as nn


lib = hone_ext.cpp(r"""
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

static std::atomic<int> working{1};

static void Burn() {
  auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  volatile double x = 1.0;
  while (std::chrono::steady_clock::now() < end) {
    if (working.load(std::memory_order_relaxed)) std::this_thread::sleep_for(std::chrono::microseconds(20));
    else for (int i = 0; i < 1000; ++i) x = x * 1.0000001;
  }
}

extern "C" void start(int64_t threads) {
  for (int64_t i = 0; i < threads; ++i) std::thread(Burn).detach();
}

extern "C" void set_working(int64_t value) { working.store((int)value, std::memory_order_relaxed); }
""")


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.started = False

    def forward(self, x):
        if not self.started:
            self.started = True
            lib.start(os.cpu_count())
        lib.set_working(1)
        result = torch.relu(self.linear(x))
        lib.set_working(0)
        return result
