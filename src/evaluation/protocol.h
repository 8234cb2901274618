// The protocol between Hone and its Python workers: one struct for the request of each verb and one for its
// reply. protocol.cpp lists their fields. worker/hone_protocol.py has the same table for Python, and a test
// compares the two. This file has the verbs and the common part of all messages. The messages are in
// setup_messages.h, run_messages.h and timing_messages.h.
//
// A frame (process/channel.h) carries the JSON of a request with its descriptors, then the JSON of the reply.
// Trees of tensors are described in JSON; their bytes are in memory files (tensor_tree.h).
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

// One step of checking the contract for later use (contract.h).
enum class ContractStep { kSetWeights, kDeepcopy, kPickle, kSlice, kGradients, kGlobals };
const char* NameOf(ContractStep step);
std::span<const ContractStep> AllContractSteps();

// Returns the JSON of a request.
template <class Request>
Json EncodeRequest(const Request& request) {
  Json body = Encode(request);
  body["verb"] = NameOf(Request::kVerb);
  return body;
}

// Returns {"build": [request, reply], ...} with the fields of every verb, for the comparison with
// worker/hone_protocol.py.
Json DescribeProtocol();

// The members of every reply, in addition to those of its verb.
struct ReplyHeader {
  bool ok = false;
  double compute_s = 0;    // reported by the worker, not verified; only for statistics
  Json error;              // the exception, an ErrorReply
  std::string unreadable;  // an output whose bytes cannot be read
  static FieldList Fields();
};

struct ErrorReply {
  std::string type = "Exception";
  std::string message;
  std::string traceback;
  static FieldList Fields();
};

// The reply of a verb that returns no data.
struct Nothing {
  static FieldList Fields();
};

// A tree of tensors whose bytes are in the first descriptor.
struct TreeReply {
  Json tree;
  static FieldList Fields();
};

}  // namespace hone
