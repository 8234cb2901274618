// Messages of the protocol (protocol.h) during timing, and the messages to the zygote. The parent reads its
// clock around `block` and `collect`. These messages therefore stay small, and their replies are decoded when
// the side is frozen.
#pragma once

#include "evaluation/protocol.h"

namespace hone {

struct DrawReply {
  std::vector<uint64_t> bases;  // offset of each set
  Json layout;                  // common layout of all sets, or
  std::vector<Json> trees;      // the tree of each set
  uint64_t total = 0;           // bytes of all sets, if the worker holds them
  static FieldList Fields();
};
struct DrawRequest {
  static constexpr Verb kVerb = Verb::kDraw;
  using Reply = DrawReply;
  std::vector<uint64_t> seeds;
  bool hold = false;
  static FieldList Fields();
};

// The worker reports all of this, and it is not verified; the answers are compared in any case. A descriptor
// comes with memory that the worker has not mapped yet. Without a descriptor it uses the memory of the
// previous block.
struct BlockReply {
  double event_us = 0;
  Json answers;  // addresses of the answers, per call and leaf
  Json numbers;  // Python numbers of the answers, per call
  Json odd;      // answers with another form: [call, tree], with the addresses of their tensors
  static FieldList Fields();
};
struct BlockRequest {
  static constexpr Verb kVerb = Verb::kBlock;
  using Reply = BlockReply;
  std::string slot = "default";
  uint64_t bytes = 0;
  bool on_device = false;
  std::vector<uint64_t> bases = {};
  int calls = 0;
  std::string rung = {};
  std::string mode = {};
  uint64_t seed = 0;
  int64_t flush = 0;
  Json form = {};  // form of an answer, if the reply must contain the answers' addresses
  Json layout = {};
  std::vector<Json> trees = {};
  static FieldList Fields();
};

struct CollectReply {
  Json numbers;
  Json odd;
  static FieldList Fields();
};
struct CollectRequest {
  static constexpr Verb kVerb = Verb::kCollect;
  using Reply = CollectReply;
  std::string slot = "default";
  Json form = {};
  Json leaves = {};
  uint64_t stride = 0;
  uint64_t bytes = 0;
  bool on_device = false;
  int place = 0;  // index of the memory for the answers
  static FieldList Fields();
};

struct ClearReply {
  bool reused = false;  // calls returned memory of earlier answers
  static FieldList Fields();
};
struct ClearRequest {
  static constexpr Verb kVerb = Verb::kClear;
  using Reply = ClearReply;
  std::string slot = "default";
  std::string rung = {};
  std::string mode = {};
  bool end = false;  // no block follows, so free all memory
  static FieldList Fields();
};

struct CallsRequest {
  static constexpr Verb kVerb = Verb::kCalls;
  using Reply = Nothing;
  std::string slot;
  std::string inputs;
  int count = 1;
  std::string rung = {};
  static FieldList Fields();
};

struct KeepSampleRequest {
  static constexpr Verb kVerb = Verb::kKeepSample;
  using Reply = Nothing;
  std::string slot = "default";
  std::string inputs = {};
  static FieldList Fields();
};

// To the zygote: fork one more worker, which uses the descriptor as its channel. There is no reply.
struct ForkRequest {
  static constexpr Verb kVerb = Verb::kFork;
  using Reply = Nothing;
  static FieldList Fields();
};

struct StatusReply {
  bool running = false;
  int code = 0;
  int signal = 0;
  static FieldList Fields();
};
// To the zygote: report how one of its workers ended.
struct StatusRequest {
  static constexpr Verb kVerb = Verb::kStatus;
  using Reply = StatusReply;
  int fork = 0;
  static FieldList Fields();
};

// To the zygote: import these libraries, which later workers will need. It accepts only names on its own
// list. There is no reply.
struct ImportRequest {
  static constexpr Verb kVerb = Verb::kImport;
  using Reply = Nothing;
  std::vector<std::string> libraries;
  static FieldList Fields();
};

// To the nursery (nursery.h): a fork of it joins an empty sandbox by the descriptors of this message and
// becomes the zygote there, with `control` as its channel. It sends its seccomp listener over `ticket`. There
// is no reply.
struct JoinRequest {
  static constexpr Verb kVerb = Verb::kJoin;
  using Reply = Nothing;
  std::vector<std::string> descriptors;  // what each descriptor is
  bool nested = false;
  std::string folder;
  std::vector<std::string> environment;
  std::string filter;               // the seccomp program, in hexadecimal
  int seccomp = 0;                  // number of the seccomp system call
  std::vector<std::string> limits;  // words of process/limits.h
  static FieldList Fields();
};

}  // namespace hone
