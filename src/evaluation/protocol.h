// The protocol between Hone and its Python workers: one struct for what a verb asks and one for what its
// reply carries. The .cpp beside it lists the fields of each, worker/hone_protocol.py has the same table for
// the Python side, and a test checks that the two agree. This file has the verbs and what all messages share;
// the messages are in setup_messages.h, run_messages.h and timing_messages.h.
//
// A frame (process/channel.h) carries the JSON of a request and its descriptors, then the JSON of the reply.
// Trees of tensors are described in JSON, and their bytes lie in memory files (tensor_tree.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/json.h"
#include "evaluation/protocol_codec.h"

namespace hone {

enum class Verb {
  kHello,
  kThreads,
  kLoad,
  kInitInputs,
  kBuild,
  kWeights,
  kTakeWeights,
  kSnapshot,
  kDrop,
  kMakeInputs,
  kFetch,
  kPutInputs,
  kStress,
  kMutants,
  kRun,
  kTruth,
  kRung,
  kCard,
  kGraph,
  kProfile,
  kCeilings,
  kTampering,
  kCanary,
  kContract,
  kDraw,
  kBlock,
  kCollect,
  kClear,
  kCalls,
  kKeepSample,
  kFork,
  kStatus,
  kImport,
  kJoin,
};
const char* NameOf(Verb verb);

// One step of the contract for later use (contract.h).
enum class ContractStep { kSetWeights, kDeepcopy, kPickle, kSlice, kGradients, kGlobals };
const char* NameOf(ContractStep step);
std::span<const ContractStep> AllContractSteps();

// The JSON of a request as it is sent.
template <class Request>
Json EncodeRequest(const Request& request) {
  Json body = Encode(request);
  body["verb"] = NameOf(Request::kVerb);
  return body;
}

// {"build": [request, reply], ...} with the fields of every verb, for the test that compares it with
// worker/hone_protocol.py.
Json DescribeProtocol();

// What every reply to a worker carries beside the members of its verb.
struct ReplyHeader {
  bool ok = false;
  double compute_s = 0;    // reported by the worker, not verified; for statistics
  Json error;              // what was raised, an ErrorReply
  std::string unreadable;  // an output whose bytes cannot be read
  static FieldList Fields();
};

struct ErrorReply {
  std::string type = "Exception";
  std::string message;
  std::string traceback;
  static FieldList Fields();
};

// The reply of a verb that is done or fails, and says no more.
struct Nothing {
  static FieldList Fields();
};

// A tree of tensors whose bytes are in the first descriptor.
struct TreeReply {
  Json tree;
  static FieldList Fields();
};

}  // namespace hone
