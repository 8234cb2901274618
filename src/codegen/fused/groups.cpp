#include "codegen/fused/groups.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "codegen/fused/view.h"

namespace hone::fused {

namespace {

constexpr int64_t kSmallReduction = 1 << 16;  // in elements; a launch costs more than reducing these

// How the points of a kernel map to elements of an item: strides in the item's order, an offset `start`, and
// terms for indices that the kernel computes.
struct Moving {
  int index = -1;  // number of the instruction
  int64_t size = 1, stride = 0;
  bool operator<(const Moving& o) const {
    return std::tie(index, size, stride) < std::tie(o.index, o.size, o.stride);
  }
};
struct Seen {
  Strides strides;
  int64_t start = 0;
  std::vector<Moving> moving = {};
  int guard = -1;  // number of an instruction; nothing need be read where it is false
  bool operator<(const Seen& o) const {
    return std::tie(strides, start, moving, guard) < std::tie(o.strides, o.start, o.moving, o.guard);
  }
};

// Builds the instructions of one kernel. Fails if its items have no common domain.
class Builder {
 public:
  Builder(const Program& program, const std::set<ItemId>& inlined, const std::vector<ItemId>& items)
      : program_(program), inlined_(inlined), items_(items), own_(items.begin(), items.end()) {}

  // Also divides axes according to the operands of views. This is needed for views that cannot be expressed
  // otherwise, such as a transposed tensor whose first axes were merged.
  Builder& Finer() {
    finer_ = true;
    return *this;
  }

  std::optional<Kernel> Build(const std::vector<ItemId>& outputs) {
    if (!FindDomain()) return std::nullopt;
    for (const ItemId id : items_) {
      if (program_.at(id).kind == ItemKind::kReshape) continue;
      const int made = Evaluate(id, {OwnView(id)});
      if (made < 0) return std::nullopt;
    }
    for (const ItemId id : outputs) {
      const int made = Evaluate(id, {OwnView(id)});
      if (made < 0) return std::nullopt;
      kernel_.outputs.push_back({made, id, OwnView(id)});
    }
    kernel_.items = items_;
    return std::move(kernel_);
  }

 private:
  bool FindDomain() {
    int64_t most = 1;
    const auto spans = [&](ItemId id) {
      const Item& item = program_.at(id);
      return item.kind == ItemKind::kReduce || item.kind == ItemKind::kScan ? program_.at(item.args[0]).shape
                                                                            : item.shape;
    };
    for (const ItemId id : items_) most = std::max(most, graph::ElementsOf(spans(id)));
    Shape domain = {most};
    for (const ItemId id : items_) {
      const Shape shape = spans(id);
      if (graph::ElementsOf(shape) != most) continue;
      const std::optional<Shape> finer = Refine(domain, shape);
      if (!finer) return false;
      domain = *finer;
    }
    if (finer_)
      for (const ItemId id : items_) RefineByInlined(id, most, &domain);
    if (domain.empty()) domain = {1};
    kernel_.domain = domain;
    kernel_.reduced.assign(domain.size(), false);
    bool reduces = false;
    for (const ItemId id : items_) {
      const Item& item = program_.at(id);
      if (item.kind != ItemKind::kReduce && item.kind != ItemKind::kScan) continue;
      if (program_.at(item.args[0]).elements() != most) return false;
      const std::vector<bool> axes = AxesOfDomain(domain, program_.at(item.args[0]).shape, item.axes);
      if (reduces && (axes != kernel_.reduced || kernel_.scans || item.kind == ItemKind::kScan)) return false;
      kernel_.reduced = axes;
      kernel_.scans = item.kind == ItemKind::kScan;
      reduces = true;
    }
    full_ = graph::ContiguousStrides(domain);
    row_.assign(domain.size(), 0);
    elements_ = most;
    rows_ = 1;
    for (size_t d = domain.size(); d-- > 0;)
      if (!kernel_.reduced[d]) {
        row_[d] = rows_;
        rows_ *= domain[d];
      }
    for (const ItemId id : items_) {
      const Item& item = program_.at(id);
      const bool per_row = item.kind == ItemKind::kReduce || item.kind == ItemKind::kField;
      if (!per_row && item.elements() != most && (item.elements() != rows_ || kernel_.scans)) return false;
    }
    return true;
  }

  void RefineByInlined(ItemId id, int64_t most, Shape* domain) const {
    for (const ItemId arg : program_.at(id).args) {
      const Item& item = program_.at(arg);
      if (inlined_.count(arg) == 0 || item.elements() != most) continue;
      if (const std::optional<Shape> finer = Refine(*domain, item.shape)) *domain = *finer;
      RefineByInlined(arg, most, domain);
    }
  }

  // The kernel accesses each item either element by element or row by row.
  Strides OwnView(ItemId id) const {
    const Item& item = program_.at(id);
    const bool per_row =
        item.kind == ItemKind::kReduce || item.kind == ItemKind::kField || item.elements() != elements_;
    return per_row && !kernel_.scans ? row_ : full_;
  }

  int Add(Instruction instruction, const Seen& view) {
    const Item& item = program_.at(instruction.item);
    bool per_row = true;
    int ready = 0;
    for (const int arg : instruction.args) {
      const Instruction& read = kernel_.instructions[static_cast<size_t>(arg)];
      per_row = per_row && read.per_row;
      ready = std::max(ready, read.ready);
    }
    if (!instruction.strides.empty())
      for (size_t d = 0; d < kernel_.domain.size(); ++d)
        if (kernel_.reduced[d] && kernel_.domain[d] > 1 && instruction.strides[d] != 0) per_row = false;
    if (item.kind == ItemKind::kWindow || item.kind == ItemKind::kScan || rows_ == elements_) per_row = false;
    if (instruction.kind == ItemKind::kReduce) ready += 1, per_row = true;
    instruction.per_row = per_row;
    instruction.ready = ready;
    kernel_.instructions.push_back(std::move(instruction));
    const int made = static_cast<int>(kernel_.instructions.size()) - 1;
    made_[{kernel_.instructions.back().item, view}] = made;
    return made;
  }

  // The view of an operand whose axes have the strides `target`, through a tensor of shape `shape`.
  std::optional<Seen> Pass(const Seen& view, const Shape& shape, const Strides& target) const {
    Affine affine{view.strides, view.start};
    Shape domain = kernel_.domain;
    for (const Moving& moving : view.moving) {
      affine.strides.push_back(moving.stride);
      domain.push_back(moving.size);
    }
    const std::optional<Affine> through = AffineThrough(affine, domain, shape, target);
    if (!through) return std::nullopt;
    Seen out;
    const size_t axes = kernel_.domain.size();
    out.strides.assign(through->strides.begin(),
                       through->strides.begin() + static_cast<std::ptrdiff_t>(axes));
    out.start = through->start;
    for (size_t i = 0; i < view.moving.size(); ++i)
      if (through->strides[axes + i] != 0)
        out.moving.push_back({view.moving[i].index, view.moving[i].size, through->strides[axes + i]});
    if (!out.moving.empty()) out.guard = view.guard;
    return out;
  }

  int Load(ItemId id, const Seen& view) {
    const Item& item = program_.at(id);
    const Strides memory =
        item.kind == ItemKind::kTensor ? item.strides : graph::ContiguousStrides(item.shape);
    const std::optional<Seen> seen = Pass(view, item.shape, memory);
    if (!seen) return -1;
    Instruction load;
    load.item = id;
    load.kind = seen->moving.empty() ? ItemKind::kTensor : ItemKind::kGather;
    load.strides = seen->strides;
    load.start = seen->start;
    load.source = item.kind == ItemKind::kTensor ? id : WithoutReshapes(program_, id);
    for (const Moving& moving : seen->moving) {
      load.args.push_back(moving.index);
      load.axis_strides.push_back(moving.stride);
    }
    if (seen->guard >= 0) load.args.push_back(seen->guard);
    return Add(std::move(load), view);
  }

  // Evaluates the elements that a view takes from its argument. The kernel needs no other elements of it.
  int EvaluateView(const Item& item, const Seen& view) {
    std::optional<Seen> seen = Pass(view, item.shape, item.strides);
    if (!seen) return -1;
    seen->start += item.start;
    const Shape& shape = program_.at(item.args[0]).shape;
    const Strides linear = graph::ContiguousStrides(shape);
    for (size_t i = 1; i < item.args.size(); ++i) {
      const Shape& given = program_.at(item.args[i]).shape;
      const std::optional<Seen> where =
          Pass(view, item.shape, BroadcastStrides(given, graph::ContiguousStrides(given), item.shape));
      const int made = where ? Evaluate(item.args[i], *where) : -1;
      if (made < 0) return -1;
      if (i > item.axes.size()) {
        seen->guard = made;
        continue;
      }
      const size_t axis = static_cast<size_t>(item.axes[i - 1]);
      if (shape[axis] > 1) seen->moving.push_back({made, shape[axis], linear[axis]});
    }
    if (seen->moving.empty()) seen->guard = -1;
    return Evaluate(item.args[0], *seen);
  }

  int Evaluate(ItemId id, const Seen& view) {
    if (const auto found = made_.find({id, view}); found != made_.end()) return found->second;
    const Item& item = program_.at(id);
    if (item.kind == ItemKind::kTensor) return Load(id, view);
    if (item.kind == ItemKind::kPlace) {
      Strides steps(item.shape.size(), 0);
      steps[0] = 1;
      const std::optional<Seen> seen = Pass(view, item.shape, steps);
      if (!seen || !seen->moving.empty()) return -1;
      Instruction place;
      place.item = id;
      place.kind = ItemKind::kPlace;
      place.strides = seen->strides;
      place.start = seen->start;
      return Add(std::move(place), view);
    }
    if (item.kind == ItemKind::kNumber) {
      Instruction number;
      number.item = id;
      number.kind = ItemKind::kNumber;
      return Add(std::move(number), view);
    }
    const bool own = own_.count(id) != 0;
    if (!own && inlined_.count(id) == 0) return Load(id, view);
    if (own && (view.strides != OwnView(id) || view.start != 0 || !view.moving.empty())) return -1;
    if (item.kind == ItemKind::kReshape) return Evaluate(item.args[0], view);
    if (item.is_view()) return EvaluateView(item, view);
    Instruction instruction;
    instruction.item = id;
    instruction.kind = item.kind;
    if (item.kind == ItemKind::kWindow) {
      // The window's coordinates must be those of the domain.
      Shape axes;
      for (const int64_t size : item.shape)
        if (size > 1) axes.push_back(size);
      Shape domain;
      for (const int64_t size : kernel_.domain)
        if (size > 1) domain.push_back(size);
      if (axes != domain || rows_ != elements_) return -1;
      instruction.source = WithoutReshapes(program_, item.args[0]);
      instruction.strides = full_;
      return Add(std::move(instruction), view);
    }
    for (const ItemId arg : item.args) {
      const Item& read = program_.at(arg);
      Seen seen = view;
      if (item.kind == ItemKind::kReduce || item.kind == ItemKind::kScan) {
        seen = {full_};
      } else if (read.kind != ItemKind::kNumber && item.kind == ItemKind::kMap) {
        const std::optional<Seen> through = Pass(
            view, item.shape, BroadcastStrides(read.shape, graph::ContiguousStrides(read.shape), item.shape));
        if (!through) return -1;
        seen = *through;
      }
      const int made = Evaluate(arg, seen);
      if (made < 0) return -1;
      instruction.args.push_back(made);
    }
    return Add(std::move(instruction), view);
  }

  const Program& program_;
  const std::set<ItemId>& inlined_;
  const std::vector<ItemId>& items_;
  const std::set<ItemId> own_;
  bool finer_ = false;
  Kernel kernel_;
  Strides full_, row_;
  int64_t elements_ = 1, rows_ = 1;
  std::map<std::pair<ItemId, Seen>, int> made_;
};

class Divider {
 public:
  // `written` lists maps that readers must not recompute.
  Divider(const graph::Graph& graph, const std::set<graph::NodeId>& as_calls, const std::set<ItemId>& written)
      : graph_(graph), as_calls_(as_calls), written_(written) {}

  // Returns a plan without kernels if an item fits in none. Then either `in_the_way` has maps that should be
  // written to memory, or `unfit` has the item's nodes.
  Plan Run() {
    plan_.lowered = Lower(graph_, as_calls_);
    FindUsers();
    // A view that leaves the kernels is left to ATen, where it costs nothing.
    for (const ItemId id : left_)
      if (plan_.lowered.program.at(id).is_view()) unfit.merge(NodesOf(plan_, {id}));
    if (!unfit.empty()) return std::move(plan_);
    FindInlined();
    const Program& program = plan_.lowered.program;
    kernel_of_.assign(program.items().size(), -1);
    for (ItemId id = 0; id < static_cast<ItemId>(program.items().size()); ++id)
      if (program.at(id).computes() && wanted_.count(id) != 0 && inlined_.count(id) == 0) Place(id);
    Finish();
    return std::move(plan_);
  }

  std::set<graph::NodeId> unfit;
  std::set<ItemId> in_the_way;

 private:
  const Program& program() const { return plan_.lowered.program; }

  // Finds what the outputs need, the readers of each item, and the necessary calls. Drops what a rewrite or
  // pattern made unused.
  void FindUsers() {
    std::vector<ItemId> todo;
    const auto want = [&](ItemId id) {
      if (wanted_.insert(id).second) todo.push_back(id);
    };
    const std::function<void(ValueId)> leave = [&](ValueId value) {
      const auto found = plan_.lowered.item_of.find(value);
      if (found != plan_.lowered.item_of.end()) {
        want(found->second);
        if (program().at(found->second).computes()) left_.insert(WithoutReshapes(program(), found->second));
      } else {
        Call(value, leave);
      }
    };
    for (const ValueId value : graph_.outputs().Leaves()) leave(value);
    while (!todo.empty()) {
      const ItemId id = todo.back();
      todo.pop_back();
      if (program().at(id).kind == ItemKind::kTensor) Call(program().at(id).value, leave);
      for (const ItemId arg : program().at(id).args) {
        users_[arg].insert(id);
        want(arg);
      }
    }
  }
  void Call(ValueId value, const std::function<void(ValueId)>& leave) {
    if (graph_.Definition(value) == nullptr || !live_.insert(graph_.value(value).node).second) return;
    for (const graph::Argument& argument : graph_.Definition(value)->arguments)
      graph::ForEachValue(argument.value, leave);
  }

  // Finds small maps that readers recompute instead of loading, such as the scale of a batch norm.
  void FindInlined() {
    int64_t largest = 1;
    const std::set<ItemId> in_view = ReadByViews();
    std::set<ItemId> placed;  // computed from places only
    for (const Item& item : program().items()) largest = std::max(largest, item.elements());
    for (ItemId id = 0; id < static_cast<ItemId>(program().items().size()); ++id) {
      const Item& item = program().at(id);
      if (item.is_view() || in_view.count(id) != 0 ||
          (item.kind == ItemKind::kReshape && inlined_.count(item.args[0]) != 0))
        inlined_.insert(id);
      if (item.kind != ItemKind::kMap || left_.count(id) != 0 || users_[id].empty() ||
          written_.count(id) != 0)
        continue;
      bool leaf = !CountsWhereMoved(id), reads = false;
      for (const ItemId arg : item.args) {
        leaf = leaf && (item.cheap || !program().at(arg).computes() || inlined_.count(arg) != 0);
        reads = reads || program().at(arg).kind == ItemKind::kTensor ||
                (program().at(arg).computes() && placed.count(arg) == 0);
      }
      for (const ItemId user : users_[id]) {
        const Item& reader = program().at(user);
        leaf = leaf && (reader.kind == ItemKind::kMap || reader.kind == ItemKind::kGather) &&
               (!reads || item.cheap || reader.elements() >= 4 * item.elements() ||
                largest >= 8 * item.elements());
      }
      if (!leaf) continue;
      inlined_.insert(id);
      if (!reads) placed.insert(id);
    }
  }

  // True if an index would move an item that depends on places, which are known only along the kernel's axes.
  bool CountsWhereMoved(ItemId id) const { return of_places_.count(id) != 0 && moved_.count(id) != 0; }

  // Whether neighbours in a view are neighbours in its argument.
  static bool KeepsNeighbours(const Item& view) {
    for (size_t i = view.shape.size(); i-- > 0;)
      if (view.shape[i] > 1) return std::abs(view.strides[i]) <= 1;
    return true;
  }

  // Maps and reshapes that only views read. Each view computes the elements it needs, unless the map's views
  // together are larger than the map.
  std::set<ItemId> ReadByViews() {
    std::set<ItemId> out, scattered;
    std::map<ItemId, int64_t> demand;
    for (ItemId id = 0; id < static_cast<ItemId>(program().items().size()); ++id)
      for (const ItemId arg : program().at(id).args)
        if (program().at(arg).kind == ItemKind::kPlace || of_places_.count(arg) != 0) of_places_.insert(id);
    for (ItemId id = static_cast<ItemId>(program().items().size()); id-- > 0;) {
      const Item& item = program().at(id);
      for (const ItemId user : users_[id]) {
        const Item& reader = program().at(user);
        if ((reader.kind == ItemKind::kGather && reader.args[0] == id) ||
            (moved_.count(user) != 0 && (reader.is_view() || out.count(user) != 0)))
          moved_.insert(id);
      }
      if (item.is_view())  // a guarded view reads each element once
        demand[id] =
            item.guarded ? std::min(item.elements(), program().at(item.args[0]).elements()) : item.elements();
      if ((item.kind != ItemKind::kMap && item.kind != ItemKind::kReshape) || left_.count(id) != 0) continue;
      bool only = !users_[id].empty();
      bool far = false;
      int64_t wanted = 0, large = 0;
      for (const ItemId user : users_[id]) {
        const Item& reader = program().at(user);
        only = only && (out.count(user) != 0 || (reader.is_view() && reader.args[0] == id));
        far = far || scattered.count(user) != 0 || (reader.is_view() && !KeepsNeighbours(reader));
        wanted += demand[user];
      }
      for (const ItemId arg : item.args) large += 2 * program().at(arg).elements() >= item.elements() ? 1 : 0;
      // Scattered elements are slow to load, so only one operand may be scattered.
      if (!only || written_.count(id) != 0 || CountsWhereMoved(id) || wanted > item.elements() ||
          (far && large > 1))
        continue;
      if (far) scattered.insert(id);
      demand[id] = wanted;
      out.insert(id);
    }
    return out;
  }

  // Units are kernels and calls. `Reaches(a, b)` means that b must wait for a.
  std::set<int> ReadBy(int kernel) const {  // the kernels whose results it reads
    std::set<int> out;
    for (const ItemId id : plan_.kernels[static_cast<size_t>(kernel)].items)
      for (const ItemId arg : program().at(id).args) AddSources(arg, &out);
    out.erase(kernel);
    return out;
  }
  void AddSources(ItemId arg, std::set<int>* out) const { AddSources(arg, out, out); }
  // Adds the kernels that compute `arg`, and those that it depends on through calls.
  void AddSources(ItemId arg, std::set<int>* direct, std::set<int>* through_calls) const {
    const Item& item = program().at(arg);
    if (inlined_.count(arg) != 0) {
      for (const ItemId deeper : item.args) AddSources(deeper, direct, through_calls);
    } else if (item.computes()) {
      if (kernel_of_[static_cast<size_t>(arg)] >= 0) direct->insert(kernel_of_[static_cast<size_t>(arg)]);
    } else if (item.kind == ItemKind::kTensor) {
      AddCallSources(item.value, through_calls);
    }
  }
  // Kernels on which a tensor computed by calls depends.
  void AddCallSources(ValueId value, std::set<int>* out) const {
    const graph::Node* node = graph_.Definition(value);
    if (node == nullptr) return;
    const auto cached = call_sources_.find(value);
    if (cached != call_sources_.end()) {
      out->insert(cached->second.begin(), cached->second.end());
      return;
    }
    std::set<int> mine;
    for (const graph::Argument& argument : node->arguments)
      graph::ForEachValue(argument.value, [&](ValueId read) {
        const auto found = plan_.lowered.item_of.find(read);
        if (found != plan_.lowered.item_of.end() && program().at(found->second).computes())
          AddSources(found->second, &mine);
        else
          AddCallSources(read, &mine);
      });
    call_sources_[value] = mine;
    out->insert(mine.begin(), mine.end());
  }
  bool DependsOn(int kernel, int on) const {
    std::vector<int> todo = {kernel};
    std::set<int> seen;
    while (!todo.empty()) {
      const int at = todo.back();
      todo.pop_back();
      if (at == on) return true;
      if (!seen.insert(at).second) continue;
      for (const int read : ReadBy(at)) todo.push_back(read);
    }
    return false;
  }

  bool Join(int target, ItemId id) {
    std::vector<ItemId> items = plan_.kernels[static_cast<size_t>(target)].items;
    std::set<int> direct, through_calls;
    for (const ItemId arg : program().at(id).args) AddSources(arg, &direct, &through_calls);
    for (const int source : direct)
      if (source != target && DependsOn(source, target)) return false;
    // A kernel cannot read what a call makes from the kernel's own results.
    for (const int source : through_calls)
      if (DependsOn(source, target)) return false;
    items.push_back(id);
    if (!Builder(program(), inlined_, items).Build({})) return false;
    plan_.kernels[static_cast<size_t>(target)].items = std::move(items);
    kernel_of_[static_cast<size_t>(id)] = target;
    return true;
  }

  void Place(ItemId id) {
    const Item& item = program().at(id);
    std::set<int> targets, through_calls;
    for (const ItemId arg : item.args) AddSources(arg, &targets, &through_calls);
    if (item.kind != ItemKind::kWindow)
      for (auto target = targets.rbegin(); target != targets.rend(); ++target)
        if (Join(*target, id)) return;
    // Tries to join kernels that read the same tensor.
    if (item.kind == ItemKind::kReduce || item.kind == ItemKind::kMap)
      for (int target = static_cast<int>(plan_.kernels.size()) - 1; target >= 0; --target)
        if (SharesReads(target, id) && Join(target, id)) return;
    // Small reductions in one kernel cost one launch instead of two, such as the sum and the count of a mean.
    if (item.kind == ItemKind::kReduce && program().at(item.args[0]).elements() <= kSmallReduction)
      for (int target = static_cast<int>(plan_.kernels.size()) - 1; target >= 0; --target)
        if (ReducesAsMany(target, id) && Join(target, id)) return;
    plan_.kernels.emplace_back();
    plan_.kernels.back().items = {id};
    kernel_of_[static_cast<size_t>(id)] = static_cast<int>(plan_.kernels.size()) - 1;
  }

  bool ReducesAsMany(int target, ItemId id) const {
    const int64_t elements = program().at(program().at(id).args[0]).elements();
    for (const ItemId other : plan_.kernels[static_cast<size_t>(target)].items)
      if (program().at(other).kind == ItemKind::kReduce &&
          program().at(program().at(other).args[0]).elements() == elements)
        return true;
    return false;
  }

  bool SharesReads(int target, ItemId id) const {
    const int64_t least = 1024;  // not worthwhile for small tensors
    for (const ItemId arg : program().at(id).args) {
      const Item& read = program().at(arg);
      if (read.kind != ItemKind::kTensor || read.elements() < least) continue;
      for (const ItemId other : plan_.kernels[static_cast<size_t>(target)].items)
        for (const ItemId also : program().at(other).args)
          if (program().at(also).kind == ItemKind::kTensor && program().at(also).value == read.value)
            return true;
    }
    return false;
  }

  // Kernels of maps that only a pooling reads, with that pooling's kernel. It computes the maps for each
  // element that it loads, which is little more than once per element.
  std::map<int, int> FindPooled() const {
    std::map<int, int> into;
    for (ItemId id = 0; id < static_cast<ItemId>(program().items().size()); ++id) {
      const Item& item = program().at(id);
      const int kernel = kernel_of_[static_cast<size_t>(id)];
      if (item.kind != ItemKind::kWindow || kernel < 0) continue;
      const ItemId base = WithoutReshapes(program(), item.args[0]);
      const int maker = kernel_of_[static_cast<size_t>(base)];
      if (maker < 0 || maker > kernel || base != item.args[0]) continue;
      const auto users = users_.find(base);
      bool alone = users != users_.end() && users->second.size() == 1;
      for (const ItemId made : plan_.kernels[static_cast<size_t>(maker)].items)
        alone =
            alone && program().at(made).kind == ItemKind::kMap && (made == base || left_.count(made) == 0);
      for (const ValueId value : graph_.outputs().Leaves()) {
        const auto found = plan_.lowered.item_of.find(value);
        alone = alone &&
                (found == plan_.lowered.item_of.end() || WithoutReshapes(program(), found->second) != base);
      }
      for (const graph::NodeId call : live_)
        for (const graph::Argument& argument : graph_.node(call).arguments)
          graph::ForEachValue(argument.value, [&](ValueId value) {
            const auto found = plan_.lowered.item_of.find(value);
            alone = alone && (found == plan_.lowered.item_of.end() ||
                              WithoutReshapes(program(), found->second) != base);
          });
      if (alone) into[maker] = kernel;
    }
    return into;
  }

  // Records items that one kernel reads and another one computes.
  void Leave(ItemId arg, int kernel) {
    const ItemId base = WithoutReshapes(program(), arg);
    if (!program().at(base).computes()) return;
    if (inlined_.count(base) != 0) {
      for (const ItemId deeper : program().at(base).args) Leave(deeper, kernel);
    } else if (kernel_of_[static_cast<size_t>(base)] != kernel) {
      left_.insert(base);
    }
  }

  // Lists maps that `id` recomputes. A view may need elements whose position in the map's operands no strides
  // describe, such as every second of the rows that share a mean.
  void FindMapsOf(ItemId id) {
    for (const ItemId arg : program().at(id).args) {
      if (inlined_.count(arg) == 0) continue;
      if (program().at(arg).kind == ItemKind::kMap) in_the_way.insert(arg);
      FindMapsOf(arg);
    }
  }

  void Finish() {
    // Finds the items that leave their kernel.
    for (ItemId id = 0; id < static_cast<ItemId>(program().items().size()); ++id) {
      if (kernel_of_[static_cast<size_t>(id)] < 0) continue;
      for (const ItemId arg : program().at(id).args) Leave(arg, kernel_of_[static_cast<size_t>(id)]);
    }
    std::vector<Kernel> kernels;
    std::map<int, int> number;
    const std::map<int, int> into = FindPooled();
    std::map<int, std::shared_ptr<const Kernel>> before;
    for (size_t k = 0; k < plan_.kernels.size(); ++k) {
      std::vector<ItemId> outputs;
      for (const ItemId id : plan_.kernels[k].items)
        if (left_.count(id) != 0) outputs.push_back(id);
      std::optional<Kernel> built = Builder(program(), inlined_, plan_.kernels[k].items).Build(outputs);
      if (outputs.empty()) continue;  // only reshapes
      if (!built) built = Builder(program(), inlined_, plan_.kernels[k].items).Finer().Build(outputs);
      if (!built) {
        for (const ItemId id : plan_.kernels[k].items) FindMapsOf(id);
        if (in_the_way.empty()) unfit = NodesOf(plan_, plan_.kernels[k].items);
        return;
      }
      if (const auto found = into.find(static_cast<int>(k)); found != into.end()) {
        before[found->second] = std::make_shared<const Kernel>(std::move(*built));
        continue;
      }
      if (const auto found = before.find(static_cast<int>(k)); found != before.end())
        built->before = found->second;
      number[static_cast<int>(k)] = static_cast<int>(kernels.size());
      kernels.push_back(std::move(*built));
    }
    Order(number);
    plan_.kernels = std::move(kernels);
  }

  // Orders kernels and calls so that every value is written before it is read.
  void Order(const std::map<int, int>& number) {
    std::set<int> done;
    const auto run = [&](auto&& self, int kernel) -> void {
      if (!done.insert(kernel).second) return;
      for (const ItemId id : plan_.kernels[static_cast<size_t>(kernel)].items)
        for (const ItemId arg : program().at(id).args) Need(arg, self);
      if (number.count(kernel) != 0) plan_.steps.push_back({false, graph::NodeId{-1}, number.at(kernel)});
    };
    for (const graph::NodeId call : plan_.lowered.calls)
      if (live_.count(call) != 0) NeedCall(call, run);
    for (size_t k = 0; k < plan_.kernels.size(); ++k) run(run, static_cast<int>(k));
  }
  template <class Run>
  void Need(ItemId arg, Run& run) {
    const Item& item = program().at(arg);
    if (inlined_.count(arg) != 0) {
      for (const ItemId deeper : item.args) Need(deeper, run);
    } else if (item.computes()) {
      if (kernel_of_[static_cast<size_t>(arg)] >= 0) run(run, kernel_of_[static_cast<size_t>(arg)]);
    } else if (item.kind == ItemKind::kTensor && graph_.Definition(item.value) != nullptr) {
      NeedCall(graph_.value(item.value).node, run);
    }
  }
  template <class Run>
  void NeedCall(graph::NodeId id, Run& run) {
    if (!called_.insert(id).second) return;
    for (const graph::Argument& argument : graph_.node(id).arguments)
      graph::ForEachValue(argument.value, [&](ValueId read) {
        const auto found = plan_.lowered.item_of.find(read);
        if (found != plan_.lowered.item_of.end())
          Need(found->second, run);
        else if (graph_.Definition(read) != nullptr)
          NeedCall(graph_.value(read).node, run);
      });
    plan_.steps.push_back({true, id, -1});
  }

  const graph::Graph& graph_;
  const std::set<graph::NodeId>& as_calls_;
  const std::set<ItemId>& written_;
  Plan plan_;
  std::set<ItemId> wanted_, inlined_, left_;
  std::set<ItemId> of_places_,
      moved_;  // items that depend on places; items that gathers read, also through views or maps
  std::map<ItemId, std::set<ItemId>> users_;
  std::vector<int> kernel_of_;
  mutable std::map<ValueId, std::set<int>> call_sources_;
  std::set<graph::NodeId> called_, live_;
};

}  // namespace

std::set<graph::NodeId> NodesOf(const Plan& plan, const std::vector<ItemId>& items) {
  std::set<graph::NodeId> nodes;
  for (const ItemId id : items)
    if (plan.lowered.program.at(id).computes()) nodes.insert(plan.lowered.made_for[static_cast<size_t>(id)]);
  return nodes;
}

Plan DivideIntoKernels(const graph::Graph& graph, std::set<graph::NodeId> as_calls) {
  // This terminates: a node that becomes a call has no items, and a written map is not recomputed.
  std::set<ItemId> written;
  while (true) {
    Divider divider(graph, as_calls, written);
    Plan plan = divider.Run();
    if (divider.unfit.empty() && divider.in_the_way.empty()) return plan;
    written.merge(divider.in_the_way);
    if (divider.unfit.empty()) continue;
    written.clear();  // the items get new numbers
    as_calls.merge(divider.unfit);
  }
}

}  // namespace hone::fused
