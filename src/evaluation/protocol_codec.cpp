#include "evaluation/protocol_codec.h"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <optional>
#include <type_traits>
#include <vector>

#include "evaluation/protocol.h"

namespace hone {

namespace {

// One specialisation per C++ type: its name, how to write it as JSON, and how to read it. Reading checks the
// type first, so that nothing here throws.
template <class T>
struct Wire;

bool IsBelowZero(const Json& number) {
  return number.get<double>() < 0;
}

template <>
struct Wire<bool> {
  static constexpr const char* kName = "bool";
  static Json Write(bool value) { return value; }
  static bool Read(Json&& from, bool* value) {
    if (!from.is_boolean()) return false;
    *value = from.get<bool>();
    return true;
  }
};

template <>
struct Wire<uint64_t> {
  static constexpr const char* kName = "count";
  static Json Write(uint64_t value) { return value; }
  static bool Read(Json&& from, uint64_t* value) {
    // No size, seed or address exceeds 2^63.
    if (!from.is_number_integer() || IsBelowZero(from) || from.get<int64_t>() < 0) return false;
    *value = from.get<size_t>();
    return true;
  }
};

template <>
struct Wire<int64_t> {
  static constexpr const char* kName = "int";
  static Json Write(int64_t value) { return value; }
  static bool Read(Json&& from, int64_t* value) {
    if (!from.is_number_integer() || IsBelowZero(from) != (from.get<int64_t>() < 0)) return false;
    *value = from.get<int64_t>();
    return true;
  }
};

template <>
struct Wire<int> {
  static constexpr const char* kName = "int";
  static Json Write(int value) { return value; }
  static bool Read(Json&& from, int* value) {
    int64_t wide = 0;
    if (!Wire<int64_t>::Read(std::move(from), &wide) || wide < std::numeric_limits<int>::min() ||
        wide > std::numeric_limits<int>::max())
      return false;
    *value = static_cast<int>(wide);
    return true;
  }
};

template <>
struct Wire<double> {
  static constexpr const char* kName = "number";
  static Json Write(double value) { return value; }
  static bool Read(Json&& from, double* value) {
    if (!from.is_number()) return false;
    *value = from.get<double>();
    return true;
  }
};

template <>
struct Wire<std::string> {
  static constexpr const char* kName = "string";
  static Json Write(const std::string& value) { return value; }
  static bool Read(Json&& from, std::string* value) {
    if (!from.is_string()) return false;
    *value = from.str();
    return true;
  }
};

template <>
struct Wire<Json> {
  static constexpr const char* kName = "json";
  static Json Write(const Json& value) { return value; }
  static bool Read(Json&& from, Json* value) {
    if (from.is_null()) return false;
    *value = std::move(from);
    return true;
  }
};

template <>
struct Wire<ContractStep> {
  static constexpr const char* kName = "step";
  static Json Write(ContractStep value) { return NameOf(value); }
  static bool Read(Json&& from, ContractStep* value) {
    for (const ContractStep step : AllContractSteps())
      if (from.is_string() && from.str() == NameOf(step)) {
        *value = step;
        return true;
      }
    return false;
  }
};

template <class T>
constexpr const char* kListName = nullptr;
template <>
constexpr const char* kListName<std::string> = "strings";
template <>
constexpr const char* kListName<uint64_t> = "counts";
template <>
constexpr const char* kListName<int64_t> = "shape";
template <>
constexpr const char* kListName<std::vector<int64_t>> = "shapes";
template <>
constexpr const char* kListName<Json> = "list";

template <class T>
struct Wire<std::vector<T>> {
  static constexpr const char* kName = kListName<T>;
  static Json Write(const std::vector<T>& values) {
    Json list = Json::array();
    for (const T& value : values) list.push_back(Wire<T>::Write(value));
    return list;
  }
  static bool Read(Json&& from, std::vector<T>* values) {
    if (!from.is_array()) return false;
    std::vector<T> read(from.size());
    for (size_t i = 0; i < read.size(); ++i)
      if (!Wire<T>::Read(std::move(from[i]), &read[i])) return false;
    *values = std::move(read);
    return true;
  }
};

template <class T>
struct Wire<std::optional<T>> {
  static constexpr const char* kName = Wire<T>::kName;
  static Json Write(const std::optional<T>& value) { return value ? Wire<T>::Write(*value) : Json(); }
  static bool Read(Json&& from, std::optional<T>* value) {
    T read{};
    if (!Wire<T>::Read(std::move(from), &read)) return false;
    *value = std::move(read);
    return true;
  }
};

template <>
struct Wire<std::map<std::string, double>> {
  using Numbers = std::map<std::string, double>;
  static constexpr const char* kName = "numbers";
  static Json Write(const Numbers& values) { return values; }
  static bool Read(Json&& from, Numbers* values) {
    if (!from.is_object()) return false;
    Numbers read;
    for (const auto& [key, value] : from.items()) {
      if (!value.is_number()) return false;
      read[key] = value.template get<double>();
    }
    *values = std::move(read);
    return true;
  }
};

template <class T>
bool IsEmptyValue(const T& value) {
  if constexpr (std::is_same_v<T, Json>)
    return value.is_null();  // an empty list is a value
  else if constexpr (requires { value.empty(); })
    return value.empty();
  else if constexpr (requires { value.has_value(); })
    return !value.has_value();
  else
    return value == T{};
}

}  // namespace

template <class T>
const WireType& WireTypeOf() {
  static constexpr WireType kType = {
      Wire<T>::kName, [](const void* value) { return IsEmptyValue(*static_cast<const T*>(value)); },
      [](const void* value) { return Wire<T>::Write(*static_cast<const T*>(value)); },
      [](Json&& from, void* value) { return Wire<T>::Read(std::move(from), static_cast<T*>(value)); }};
  return kType;
}

template const WireType& WireTypeOf<bool>();
template const WireType& WireTypeOf<int>();
template const WireType& WireTypeOf<int64_t>();
template const WireType& WireTypeOf<uint64_t>();
template const WireType& WireTypeOf<double>();
template const WireType& WireTypeOf<std::string>();
template const WireType& WireTypeOf<Json>();
template const WireType& WireTypeOf<ContractStep>();
template const WireType& WireTypeOf<std::vector<std::string>>();
template const WireType& WireTypeOf<std::vector<uint64_t>>();
template const WireType& WireTypeOf<std::vector<std::vector<int64_t>>>();
template const WireType& WireTypeOf<std::vector<Json>>();
template const WireType& WireTypeOf<std::map<std::string, double>>();
template const WireType& WireTypeOf<std::optional<std::vector<std::string>>>();

Json EncodeFields(FieldList fields, const void* message) {
  Json body = Json::object();
  for (const MessageField& field : fields) {
    const void* value = field.in(const_cast<void*>(message));
    if (field.trait != kAlways && field.type().is_empty(value)) continue;
    body[field.name] = field.type().write(value);
  }
  return body;
}

Status DecodeFields(FieldList fields, Json&& body, void* message) {
  for (const MessageField& field : fields) {
    const auto found = body.find(field.name);
    if (found == body.end() || found->is_null()) {
      if (field.trait != kAlways) continue;
      return Error{ErrorKind::kInvalid, fmt::format("has no member '{}'", field.name)};
    }
    if (field.type().read(std::move(*found), field.in(message)) || field.trait == kHint) continue;
    return Error{ErrorKind::kInvalid,
                 fmt::format("has a member '{}' that is no {}", field.name, field.type().name)};
  }
  return Ok();
}

Json DescribeFields(FieldList fields) {
  Json told = Json::object();
  for (const MessageField& field : fields) {
    const char* suffix = field.trait == kMayLack ? "?" : field.trait == kHint ? "~" : "";
    told[field.name] = field.type().name + std::string(suffix);
  }
  return told;
}

}  // namespace hone
