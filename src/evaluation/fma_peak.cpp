#include "evaluation/fma_peak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>
#include <vector>

namespace hone {

namespace {

constexpr int kChains = 12;     // keeps two pipes of latency four busy and leaves registers free
constexpr int kRounds = 20000;  // between reads of the clock
constexpr std::chrono::milliseconds kSpell{40};
constexpr int kSpells = 5;  // the best one counts, because other load can only lower a rate

// Operations per second of one thread. Always inlined, so that it uses the caller's instruction set.
template <class Number, int kBytes>
[[gnu::always_inline]] inline double Rate(std::atomic<int>* waiting, double* sum) {
  typedef Number Vec __attribute__((vector_size(kBytes)));
  Vec chain[kChains];
  const Vec factor = Vec{} + Number(0.999), step = Vec{} + Number(1e-3);
  // The compiler must not know the start value. It would optimise away a chain that starts and stays at 1.
  const int start = waiting->load();
  for (int i = 0; i < kChains; ++i) chain[i] = Vec{} + Number(start + i);
  waiting->fetch_sub(1);
  while (waiting->load() > 0)
    std::this_thread::yield();  // all threads start together, because a single busy core runs faster
  const auto begin = std::chrono::steady_clock::now();
  int64_t rounds = 0;
  do {
    for (int k = 0; k < kRounds; ++k)
#pragma GCC unroll 12
      for (int i = 0; i < kChains; ++i) chain[i] = chain[i] * factor + step;
    rounds += kRounds;
  } while (std::chrono::steady_clock::now() - begin < kSpell);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (int i = 0; i < kChains; ++i)
    *sum += static_cast<double>(chain[i][0]);  // otherwise the compiler would remove the computation
  constexpr int kLanes = kBytes / static_cast<int>(sizeof(Number));
  return 2.0 * static_cast<double>(rounds) * kChains * kLanes / seconds;
}

using Runner = double (*)(std::atomic<int>*, double*);

#if defined(__x86_64__)
template <class Number>
[[gnu::target("avx512f")]] double Rate512(std::atomic<int>* waiting, double* sum) {
  return Rate<Number, 64>(waiting, sum);
}
template <class Number>
[[gnu::target("avx2,fma")]] double Rate256(std::atomic<int>* waiting, double* sum) {
  return Rate<Number, 32>(waiting, sum);
}
#endif
template <class Number>
double Rate128(std::atomic<int>* waiting, double* sum) {
  return Rate<Number, 16>(waiting, sum);
}

template <class Number>
Runner RunnerHere() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return Rate512<Number>;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Rate256<Number>;
#endif
  return Rate128<Number>;
}

double OneSpell(Runner runner, int threads) {
  std::atomic<int> waiting{threads};
  std::vector<double> rates(static_cast<size_t>(threads)), sums(rates.size());
  std::vector<std::thread> all;
  try {
    for (size_t i = 0; i < rates.size(); ++i)
      all.emplace_back([&, i] { rates[i] = runner(&waiting, &sums[i]); });
  } catch (const std::system_error&) {  // no more threads are available, and those that exist must not wait
    waiting = 0;
  }
  for (std::thread& one : all) one.join();
  if (all.size() < rates.size()) return 0;
  double total = 0;
  for (const double rate : rates) total += rate;
  return total;
}

double OnAll(Runner runner, int threads) {
  double best = 0;
  for (int i = 0; i < kSpells; ++i) best = std::max(best, OneSpell(runner, threads));
  return best;
}

}  // namespace

std::map<std::string, double> MeasureFmaPeak(int threads) {
  threads = std::max(1, threads);
  return {{"float32", OnAll(RunnerHere<float>(), threads)},
          {"float64", OnAll(RunnerHere<double>(), threads)}};
}

}  // namespace hone
