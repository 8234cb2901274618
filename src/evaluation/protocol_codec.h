// Converts messages of the protocol (protocol.h) to JSON and back. Each message has one list of fields, as
// each record of the store has. One encoder and one decoder use these lists.
//
// Replies come from a process that may be hostile. Decoding never throws: a member that is missing, has
// another type or is out of range is an Error that names it. Hints are an exception: no decision depends on
// them, so an invalid hint keeps its default.
#pragma once

#include <span>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// Traits that set a field apart from a plain one, which is always sent and must be valid.
enum MessageTrait {
  kAlways,
  kMayLack,  // left out if it is empty
  kHint,     // in a reply: may be missing, and keeps its default if invalid
};

// How values of one C++ type are written and read.
struct WireType {
  const char* name;  // the type's name in worker/hone_protocol.py
  bool (*is_empty)(const void* value);
  Json (*write)(const void* value);
  bool (*read)(Json&& from,
               void* value);  // returns false and leaves `value` unchanged if `from` has another type
};

// For bool, int, int64_t, uint64_t, double, std::string, Json, ContractStep, lists of strings, counts, shapes
// and Json, numbers by name, and a list of strings that may be missing.
template <class T>
const WireType& WireTypeOf();

struct MessageField {
  const char* name;
  const WireType& (*type)();
  void* (*in)(void* message);  // returns the address of the member
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
// Moves the values out of `body` and ignores unknown members. An Error is a clause such as "has no member
// 'tree'".
Status DecodeFields(FieldList fields, Json&& body, void* message);
// Returns the name and type of every field: "count", "string?" if it may be missing, "number~" if it is a
// hint. worker/hone_protocol.py must list the same.
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
