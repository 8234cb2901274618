// Messages (protocol.h) that set up a worker: it loads a task or a candidate, builds instances and takes
// weights. A slot is an instance of the module in the worker's process, identified by name.
#pragma once

#include <string>
#include <vector>

#include "evaluation/protocol.h"

namespace hone {

struct HelloReply {
  Json facts;  // about the machine; empty for a candidate's worker
  static FieldList Fields();
};
struct HelloRequest {
  static constexpr Verb kVerb = Verb::kHello;
  using Reply = HelloReply;
  static FieldList Fields();
};

struct ThreadsRequest {
  static constexpr Verb kVerb = Verb::kThreads;
  using Reply = Nothing;
  int count = 0;
  static FieldList Fields();
};

struct LoadReply {
  bool has_class = false;             // only for a candidate
  std::vector<std::string> names;     // names that its file defines
  std::vector<std::string> variants;  // only for a task
  bool has_stress = false;
  static FieldList Fields();
};
struct LoadRequest {
  static constexpr Verb kVerb = Verb::kLoad;
  using Reply = LoadReply;
  std::string path;
  std::string name;  // name of the Python module
  std::string class_name;
  static FieldList Fields();
};

struct InitInputsReply {
  Json tree;
  bool opaque = false;  // it contains an object that cannot be sent as bytes
  static FieldList Fields();
};
struct InitInputsRequest {
  static constexpr Verb kVerb = Verb::kInitInputs;
  using Reply = InitInputsReply;
  static FieldList Fields();
};

struct BuildReply {
  Json beside;  // files that a task loaded from its own folder
  static FieldList Fields();
};
// Init inputs come as a tree with the first descriptor, from a file, or from the task itself.
struct BuildRequest {
  static constexpr Verb kVerb = Verb::kBuild;
  using Reply = BuildReply;
  std::string slot;
  std::string class_name;
  uint64_t seed = 0;
  Json init = {};
  std::string init_file = {};
  static FieldList Fields();
};

struct WeightsReply {
  std::vector<std::string> names;
  Json tree;
  static FieldList Fields();
};
struct WeightsRequest {
  static constexpr Verb kVerb = Verb::kWeights;
  using Reply = WeightsReply;
  std::string slot;
  static FieldList Fields();
};

struct TakeWeightsReply {
  std::string how;  // "state_dict" or "load_reference"
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
  static FieldList Fields();
};
struct TakeWeightsRequest {
  static constexpr Verb kVerb = Verb::kTakeWeights;
  using Reply = TakeWeightsReply;
  std::string slot;
  std::vector<std::string> names;
  Json tree;
  static FieldList Fields();
};

struct SnapshotRequest {
  static constexpr Verb kVerb = Verb::kSnapshot;
  using Reply = Nothing;
  std::string slot;
  static FieldList Fields();
};

struct DropRequest {
  static constexpr Verb kVerb = Verb::kDrop;
  using Reply = Nothing;
  std::vector<std::string> slots = {};
  std::vector<std::string> inputs = {};
  static FieldList Fields();
};

}  // namespace hone
