// How a message of the protocol (protocol.h) becomes JSON and back: one list of fields per message, as the
// store has one per record, and one encoder and one decoder that go by these lists.
//
// Replies come from a process that may be hostile. Decoding never throws: a member that is missing, of
// another type or out of range is an Error that names it. Hints are the exception: nothing is decided by
// them, so one that cannot be read keeps its default.
#pragma once

#include <span>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// What sets a field apart from a plain one, which is always sent and must be right.
enum MessageTrait {
  kAlways,
  kMayLack,  // left out when it is empty
  kHint,     // of a reply: may lack, and keeps its default when it cannot be read
};

// How values of one C++ type travel.
struct WireType {
  const char* name;  // as worker/hone_protocol.py calls it
  bool (*is_empty)(const void* value);
  Json (*write)(const void* value);
  bool (*read)(Json&& from, void* value);  // false: `from` is none of these, and `value` is unchanged
};

// For bool, int, int64_t, uint64_t, double, std::string, Json, ContractStep, lists of strings, of counts, of
// shapes and of Json, numbers by name, and a list of strings that may be missing.
template <class T>
const WireType& WireTypeOf();

struct MessageField {
  const char* name;
  const WireType& (*type)();
  void* (*in)(void* message);  // where the member lies
  MessageTrait trait = kAlways;
};

template <class Message, class T>
T MemberType(T Message::*);
template <class Message, class T>
Message OwnerType(T Message::*);

// One line of a list: FieldFor<&RunRequest::slot>("slot").
template <auto kMember>
constexpr MessageField FieldFor(const char* name, MessageTrait trait = kAlways) {
  using Message = decltype(OwnerType(kMember));
  return {name, &WireTypeOf<decltype(MemberType(kMember))>,
          [](void* message) -> void* { return &(static_cast<Message*>(message)->*kMember); }, trait};
}

using FieldList = std::span<const MessageField>;

Json EncodeFields(FieldList fields, const void* message);
// Takes the values out of `body`. Members that no field names are ignored. An Error says what is wrong in
// half a sentence: "has no member 'tree'".
Status DecodeFields(FieldList fields, Json&& body, void* message);
// Name and type of every field, "count", "string?" if it may lack, "number~" if it is a hint: what
// worker/hone_protocol.py says of the same message.
Json DescribeFields(FieldList fields);

template <class Message>
Json Encode(const Message& message) {
  return EncodeFields(Message::Fields(), &message);
}

template <class Message>
Status Decode(Json&& body, Message* message) {
  return DecodeFields(Message::Fields(), std::move(body), message);
}

}  // namespace hone
