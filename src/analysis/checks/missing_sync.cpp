// missing-sync: one thread writes shared memory and another reads it without a barrier in between.
#include <fmt/format.h>

#include <map>
#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

namespace {

struct Pending {
  const SyntaxNode* node = nullptr;
  const SyntaxNode* statement = nullptr;
  std::string_view index;
};

// Walks the events in order, and through loops twice: the next iteration reads what the end of one wrote.
class SyncWalk {
 public:
  explicit SyncWalk(const CudaKernel& kernel) : events_(kernel.events) {}

  void Run() { Range(0, events_.size(), 0); }
  const std::vector<std::pair<SharedAccess, Pending>>& races() const { return races_; }

 private:
  size_t EndOfLoop(size_t begin) const {
    int depth = 0;
    for (size_t i = begin; i < events_.size(); ++i) {
      if (events_[i].kind == CudaEvent::Kind::kLoopBegin) ++depth;
      if (events_[i].kind == CudaEvent::Kind::kLoopEnd && --depth == 0) return i;
    }
    return events_.size();
  }

  void Range(size_t begin, size_t end, int depth) {
    for (size_t i = begin; i < end; ++i) {
      const CudaEvent& event = events_[i];
      if (event.kind == CudaEvent::Kind::kLoopBegin) {
        const size_t last = EndOfLoop(i);
        // Each nesting level doubles the work, so deep levels are walked once.
        for (int round = 0; round < (depth < 5 ? 2 : 1); ++round)
          Range(i + 1, std::min(last, end), depth + 1);
        i = last;
      } else if (event.kind == CudaEvent::Kind::kBarrier) {
        written_.clear();
        read_.clear();
      } else if (event.kind == CudaEvent::Kind::kShared) {
        Access(event.access);
      }
    }
  }

  void Access(const SharedAccess& access) {
    if (access.is_write) {
      // Slower threads may still be reading what this overwrites. A statement that reads and writes is one
      // step.
      const auto read = read_.find(access.array);
      if (read != read_.end() && read->second.index != access.index &&
          read->second.statement != access.statement)
        races_.push_back({access, read->second});
      written_[access.array] = {access.node, access.statement, access.index};
      return;
    }
    read_[access.array] = {access.node, access.statement, access.index};
    const auto it = written_.find(access.array);
    if (it != written_.end() && it->second.index != access.index) races_.push_back({access, it->second});
  }

  const std::vector<CudaEvent>& events_;
  std::map<std::string_view, Pending> written_;
  std::map<std::string_view, Pending> read_;
  std::vector<std::pair<SharedAccess, Pending>> races_;
};

}  // namespace

void CheckMissingSync(const Candidate& candidate, FindingSink* sink) {
  for (const CudaUnit& unit : candidate.cuda) {
    for (const CudaKernel& kernel : unit.kernels) {
      // Warp-synchronous code declares its array volatile. The text does not show whether it is right.
      if (kernel.shared_arrays.empty() || kernel.volatile_shared) continue;
      SyncWalk walk(kernel);
      walk.Run();
      std::set<std::string_view> said;
      for (const auto& [second, first] : walk.races()) {
        if (!said.insert(second.array).second) continue;
        const uint32_t line = candidate.source.PositionAt(unit.OuterStart(first.node)).line;
        sink->AddAt(
            unit.OuterStart(second.node), unit.OuterEnd(second.node), Severity::kError,
            fmt::format("{} {} {}{}, which other threads {} at line {}, with no __syncthreads() between",
                        kernel.name, second.is_write ? "overwrites" : "reads", second.array, second.index,
                        second.is_write ? "may still be reading" : "wrote", line),
            fmt::format("Put __syncthreads() between line {} and this line{}.", line,
                        second.is_write ? ", at the end of the loop body" : ""));
      }
    }
  }
}

}  // namespace hone
