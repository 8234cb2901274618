// Messages (protocol.h) about inputs, calls and facts: what a worker computes and reports. Inputs stay in the
// worker's process under a name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/protocol.h"

namespace hone {

struct MakeInputsReply {
  Json tree;  // null: these inputs cannot be changed in that way
  // Tensors that get_inputs has returned unchanged in all draws so far, and those of them that could be
  // processed before the clock starts (no constants, masks or integers).
  std::vector<uint64_t> fixed = {};
  std::vector<uint64_t> telling = {};
  static FieldList Fields();
};
struct MakeInputsRequest {
  static constexpr Verb kVerb = Verb::kMakeInputs;
  using Reply = MakeInputsReply;
  std::string inputs;
  uint64_t seed = 0;
  std::string slot;
  std::string variant = {};
  std::string regime = {};
  std::string draw = {};
  std::string change = {};
  std::vector<std::vector<int64_t>> output_shapes = {};
  uint64_t near = 0;  // not 0: a seed; the inputs then differ by rounding
  bool hold = false;
  static FieldList Fields();
};

// After a request with `hold`, the worker keeps its tensors and the reply gives their size. This request
// passes memory of the parent into which the worker copies them.
struct FetchRequest {
  static constexpr Verb kVerb = Verb::kFetch;
  using Reply = Nothing;
  uint64_t bytes = 0;
  bool on_device = false;
  bool trim = false;  // return unused memory to the device
  static FieldList Fields();
};

// The values come in a memory file, or are in the parent's memory (`bytes` of it) and stay there. To change
// the latter in place, the parent writes them and sends the message without a descriptor.
struct PutInputsRequest {
  static constexpr Verb kVerb = Verb::kPutInputs;
  using Reply = Nothing;
  std::string inputs;
  Json tree;
  bool in_place = false;
  uint64_t bytes = 0;
  bool on_device = false;
  static FieldList Fields();
};

struct StressRequest {
  static constexpr Verb kVerb = Verb::kStress;
  using Reply = Nothing;
  std::string slot;
  std::string regime;
  uint64_t seed = 0;
  std::string inputs;
  static FieldList Fields();
};

struct MutantsReply {
  std::vector<std::string> names;
  std::map<std::string, double> sensitivities;  // by parameter
  static FieldList Fields();
};
struct MutantsRequest {
  static constexpr Verb kVerb = Verb::kMutants;
  using Reply = MutantsReply;
  std::string slot;
  std::string inputs;
  uint64_t seed = 0;
  int gradient_from = 0;
  static FieldList Fields();
};

struct RunReply {
  Json tree;
  Json inputs_after;            // set if a second descriptor was sent
  bool inputs_changed = false;  // by a call with `fresh`
  static FieldList Fields();
};
struct RunRequest {
  static constexpr Verb kVerb = Verb::kRun;
  using Reply = RunReply;
  std::string slot;
  std::string inputs;
  uint64_t seed = 0;
  std::string rung = {};  // a baseline; only for the reference
  std::string mutant = {};
  bool poison = false;
  bool busy = false;
  std::vector<uint64_t> output_bytes = {};
  bool hold = false;
  // Call with copies of the inputs and report whether they changed. If so, all later calls of this worker use
  // copies.
  bool fresh = false;
  bool want_inputs = false;  // the tree holds the inputs after the call
  uint64_t earlier = 0;      // number of calls on the same inputs before this one, from the same state
  static FieldList Fields();
};

struct TruthRequest {
  static constexpr Verb kVerb = Verb::kTruth;
  using Reply = TreeReply;
  std::string slot;
  std::string inputs;
  uint64_t seed = 0;
  bool keep = true;  // keep the float64 module for the next call
  std::string mutant = {};
  double jitter = 0;
  uint64_t jitter_seed = 0;
  bool hold = false;
  uint64_t earlier = 0;
  static FieldList Fields();
};

struct RungRequest {
  static constexpr Verb kVerb = Verb::kRung;
  using Reply = Nothing;
  std::string slot;
  std::string inputs;
  std::string rung;
  static FieldList Fields();
};

struct CardReply {
  Json card;
  static FieldList Fields();
};
struct CardRequest {
  static constexpr Verb kVerb = Verb::kCard;
  using Reply = CardReply;
  std::string slot;
  std::string inputs;
  static FieldList Fields();
};

// The task as a graph (graph/graph_json.h), or one sentence that explains why there is none. The worker draws
// inputs from `seed`. It runs the graph and the module only if that needs at most `limit_bytes`.
struct GraphReply {
  Json graph;
  std::string declined;
  static FieldList Fields();
};
struct GraphRequest {
  static constexpr Verb kVerb = Verb::kGraph;
  using Reply = GraphReply;
  std::string slot;
  uint64_t seed = 0;
  uint64_t limit_bytes = 0;
  static FieldList Fields();
};

// The worker reports all of this, and it is not verified.
struct ProfileReply {
  int64_t launches = -1;
  double own_us = 0;
  double library_us = 0;
  Json kernels;
  static FieldList Fields();
};
struct ProfileRequest {
  static constexpr Verb kVerb = Verb::kProfile;
  using Reply = ProfileReply;
  std::string slot;
  std::string inputs;
  static FieldList Fields();
};

struct CeilingsReply {
  Json rates;
  static FieldList Fields();
};
struct CeilingsRequest {
  static constexpr Verb kVerb = Verb::kCeilings;
  using Reply = CeilingsReply;
  static FieldList Fields();
};

struct TamperingReply {
  std::vector<std::string> changed;
  std::vector<std::string> libraries;  // that its workers import and its zygote may import
  static FieldList Fields();
};
struct TamperingRequest {
  static constexpr Verb kVerb = Verb::kTampering;
  using Reply = TamperingReply;
  static FieldList Fields();
};

struct CanaryReply {
  bool right = false;
  static FieldList Fields();
};
struct CanaryRequest {
  static constexpr Verb kVerb = Verb::kCanary;
  using Reply = CanaryReply;
  static FieldList Fields();
};

// Each step sets the members it needs; the others are empty.
struct ContractReply {
  std::string failed;          // exception raised by the module's code
  std::string not_applicable;  // why the step does not apply to this module
  std::vector<std::string> names;
  Json tree;
  std::vector<std::string> changed;
  bool draws = false;
  static FieldList Fields();
};
struct ContractRequest {
  static constexpr Verb kVerb = Verb::kContract;
  using Reply = ContractReply;
  ContractStep step = ContractStep::kDeepcopy;
  std::string slot = {};
  std::string inputs = {};
  std::string as = {};   // the slot or inputs that the step creates
  std::string how = {};  // "load", "data" or "in_place"
  std::optional<std::vector<std::string>> names = {};
  Json tree = {};
  uint64_t seed = 0;
  uint64_t dim = 0;
  int64_t full = 0;
  int64_t size = 0;
  static FieldList Fields();
};

}  // namespace hone
