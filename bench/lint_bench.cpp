// Measures how fast `hone lint` reads candidates: files and bytes per second, and the process's peak memory,
// over the labelled corpus in tests/golden/corpus. The required rate is 200 files a second on two cores.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "analysis/lint.h"
#include "base/files.h"

namespace hone {
namespace {

std::vector<std::string> LoadCorpus() {
  std::vector<std::string> out;
  std::error_code code;
  for (const auto& entry :
       fs::directory_iterator(fs::path(HONE_SOURCE_DIR) / "tests/golden/corpus/files", code))
    if (Result<std::string> text = ReadFile(entry.path()); text.ok()) out.push_back(std::move(*text));
  return out;
}

void BM_LintCorpus(benchmark::State& state) {
  const std::vector<std::string> corpus = LoadCorpus();
  size_t bytes = 0;
  for (const std::string& text : corpus) bytes += text.size();
  for (auto _ : state) {
    std::atomic<size_t> next{0};
    const auto work = [&] {
      for (size_t i = next++; i < corpus.size(); i = next++)
        benchmark::DoNotOptimize(LintSource("candidate.py", corpus[i]));
    };
    std::vector<std::thread> threads;
    for (int64_t i = 1; i < state.range(0); ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
  }
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["files_per_s"] =
      benchmark::Counter(static_cast<double>(corpus.size()), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024.0;
  state.SetBytesProcessed(static_cast<int64_t>(bytes) * state.iterations());
}
BENCHMARK(BM_LintCorpus)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

// One candidate of each size from a fifth of the corpus to the whole corpus in one file. The time should stay
// linear.
void BM_LintOneLongFile(benchmark::State& state) {
  std::string text;
  for (const std::string& part : LoadCorpus()) {
    text += part;
    if (text.size() > static_cast<size_t>(state.range(0)) << 10) break;
  }
  for (auto _ : state) benchmark::DoNotOptimize(LintSource("candidate.py", text));
  state.SetBytesProcessed(static_cast<int64_t>(text.size()) * state.iterations());
}
BENCHMARK(BM_LintOneLongFile)->Arg(10)->Arg(40)->Arg(160)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hone

BENCHMARK_MAIN();
