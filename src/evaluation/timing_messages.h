// The part of the protocol (protocol.h) that is spoken while processes are timed, and what the zygote
// understands. The parent reads its clock around `block` and `collect`: these messages stay small, and what
// is in their replies is looked at when the side is frozen.
#pragma once

#include "evaluation/protocol.h"

namespace hone {

struct DrawReply {
  std::vector<uint64_t> bases;  // where each set begins
  Json layout;                  // of all sets, or
  std::vector<Json> trees;      // of each
  uint64_t total = 0;           // bytes of all, where they are held
  static FieldList Fields();
};
struct DrawRequest {
  static constexpr Verb kVerb = Verb::kDraw;
  using Reply = DrawReply;
  std::vector<uint64_t> seeds;
  bool hold = false;
  static FieldList Fields();
};

// All of it is reported by the worker and not verified; the answers are compared in any case. A descriptor
// comes with memory that the worker has not mapped yet; without one, that of the block before serves again.
struct BlockReply {
  double event_us = 0;
  Json answers;  // per call and leaf the address of an answer
  Json numbers;  // per call the Python numbers of an answer
  Json odd;      // answers of another form than expected: [call, tree], with the addresses of their tensors
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
  Json form = {};  // of an answer, if the reply shall say where answers lie
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
  int place = 0;  // which of several memories for answers
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
  bool end = false;  // no block follows: free all memory
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

// To the zygote: one more worker, which speaks on the descriptor. There is no reply.
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
// To the zygote: how one of its workers ended.
struct StatusRequest {
  static constexpr Verb kVerb = Verb::kStatus;
  using Reply = StatusReply;
  int fork = 0;
  static FieldList Fields();
};

// To the zygote: import these libraries, which later workers are going to need. It knows a list of them and
// ignores other names. There is no reply.
struct ImportRequest {
  static constexpr Verb kVerb = Verb::kImport;
  using Reply = Nothing;
  std::vector<std::string> libraries;
  static FieldList Fields();
};

// To the nursery (nursery.h): a fork of it comes into an empty sandbox by the descriptors of this message and
// is the zygote there, with `control` for its channel. It sends its seccomp listener over `ticket`. There is
// no reply.
struct JoinRequest {
  static constexpr Verb kVerb = Verb::kJoin;
  using Reply = Nothing;
  std::vector<std::string> descriptors;  // what each of them is
  bool nested = false;
  std::string folder;
  std::vector<std::string> environment;
  std::string filter;  // the seccomp program, in hexadecimal
  int seccomp = 0;     // the number of that system call
  static FieldList Fields();
};

}  // namespace hone
