#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>

namespace hone {

namespace {

// Hone writes no JSON this deep. Copying and printing recurse, so deep input could exhaust the stack.
constexpr int kMaxNesting = 200;

[[noreturn]] void ThrowKind(const char* wanted) {
  throw std::logic_error(std::string("a JSON value is not ") + wanted);
}

}  // namespace

template <JsonOrder kOrder>
BasicJson<kOrder>::BasicJson() : integer_(0) {}
template <JsonOrder kOrder>
BasicJson<kOrder>::BasicJson(std::nullptr_t) : integer_(0) {}
template <JsonOrder kOrder>
BasicJson<kOrder>::BasicJson(double value) : kind_(Kind::kDouble), number_(value) {}
template <JsonOrder kOrder>
BasicJson<kOrder>::BasicJson(std::string value)
    : kind_(Kind::kString), integer_(0), text_(std::move(value)) {}
template <JsonOrder kOrder>
BasicJson<kOrder>::BasicJson(std::string_view value) : kind_(Kind::kString), integer_(0), text_(value) {}
template <JsonOrder kOrder>
BasicJson<kOrder>::BasicJson(const char* value) : kind_(Kind::kString), integer_(0), text_(value) {}
template <JsonOrder kOrder>
BasicJson<kOrder>::BasicJson(const BasicJson& other) = default;
template <JsonOrder kOrder>
BasicJson<kOrder>& BasicJson<kOrder>::operator=(const BasicJson& other) = default;
template <JsonOrder kOrder>
BasicJson<kOrder>::~BasicJson() = default;

// A moved-from value is null, not an empty string or list.
template <JsonOrder kOrder>
BasicJson<kOrder>::BasicJson(BasicJson&& other) noexcept
    : kind_(std::exchange(other.kind_, Kind::kNull)),
      integer_(other.integer_),
      text_(std::move(other.text_)),
      values_(std::move(other.values_)),
      keys_(std::move(other.keys_)) {}

template <JsonOrder kOrder>
BasicJson<kOrder>& BasicJson<kOrder>::operator=(BasicJson&& other) noexcept {
  // `other` may be a part of this value, so it is moved out before this value is released.
  BasicJson taken(std::move(other));
  kind_ = taken.kind_;
  integer_ = taken.integer_;
  text_.swap(taken.text_);
  values_.swap(taken.values_);
  keys_.swap(taken.keys_);
  return *this;
}

template <JsonOrder kOrder>
BasicJson<kOrder>::BasicJson(std::initializer_list<BasicJson> values) : integer_(0) {
  const bool pairs = std::all_of(values.begin(), values.end(), [](const BasicJson& value) {
    return value.is_array() && value.size() == 2 && value.front().is_string();
  });
  if (!pairs) {
    *this = array(values);
    return;
  }
  kind_ = Kind::kObject;
  for (const BasicJson& pair : values)
    if (!contains(pair.front().text_)) (*this)[pair.front().text_] = pair.back();
}

template <JsonOrder kOrder>
template <JsonOrder kOther>
void BasicJson<kOrder>::CopyFrom(const BasicJson<kOther>& other) {
  kind_ = static_cast<Kind>(other.kind_);
  integer_ = other.integer_;
  text_ = other.text_;
  if (!other.is_object()) {
    values_.assign(other.begin(), other.end());
    return;
  }
  for (const auto& [key, value] : other.items()) (*this)[key] = BasicJson(value);
}

template <JsonOrder kOrder>
BasicJson<kOrder> BasicJson<kOrder>::array() {
  return BasicJson(Kind::kArray, 0);
}

template <JsonOrder kOrder>
BasicJson<kOrder> BasicJson<kOrder>::array(std::initializer_list<BasicJson> values) {
  BasicJson made = array();
  made.values_ = values;
  return made;
}

template <JsonOrder kOrder>
BasicJson<kOrder> BasicJson<kOrder>::object() {
  return BasicJson(Kind::kObject, 0);
}

template <JsonOrder kOrder>
const std::string& BasicJson<kOrder>::str() const {
  if (!is_string()) ThrowKind("a string");
  return text_;
}

template <JsonOrder kOrder>
template <class T>
T BasicJson<kOrder>::get() const {
  if constexpr (std::is_same_v<T, bool>) {
    if (!is_boolean()) ThrowKind("a boolean");
    return integer_ != 0;
  } else if constexpr (std::is_arithmetic_v<T>) {
    switch (kind_) {
      case Kind::kBool:
      case Kind::kSigned:
        return static_cast<T>(integer_);
      case Kind::kUnsigned:
        return static_cast<T>(static_cast<uint64_t>(integer_));
      case Kind::kDouble:
        return static_cast<T>(number_);
      default:
        ThrowKind("a number");
    }
  } else if constexpr (std::is_same_v<T, std::string>) {
    return str();
  } else {
    if (!is_array()) ThrowKind("an array");
    T out;
    for (const BasicJson& value : values_) out.push_back(value.template get<typename T::value_type>());
    return out;
  }
}

template <JsonOrder kOrder>
size_t BasicJson<kOrder>::size() const {
  if (is_array() || is_object()) return values_.size();
  return is_null() ? 0 : 1;
}

template <JsonOrder kOrder>
void BasicJson<kOrder>::push_back(BasicJson value) {
  if (is_null()) kind_ = Kind::kArray;
  if (!is_array()) ThrowKind("an array");
  values_.push_back(std::move(value));
}

template <JsonOrder kOrder>
BasicJson<kOrder>& BasicJson<kOrder>::Element(size_t index) {
  if (!is_array()) ThrowKind("an array");
  return values_.at(index);
}

template <JsonOrder kOrder>
size_t BasicJson<kOrder>::Position(std::string_view key) const {
  if constexpr (kOrder == JsonOrder::kSorted) {
    const auto it = std::lower_bound(keys_.begin(), keys_.end(), key);
    return it != keys_.end() && *it == key ? static_cast<size_t>(it - keys_.begin()) : keys_.size();
  } else {
    return static_cast<size_t>(std::find(keys_.begin(), keys_.end(), key) - keys_.begin());
  }
}

template <JsonOrder kOrder>
BasicJson<kOrder>& BasicJson<kOrder>::operator[](std::string_view key) {
  if (is_null()) kind_ = Kind::kObject;
  if (!is_object()) ThrowKind("an object");
  const size_t found = Position(key);
  if (found < keys_.size()) return values_[found];
  auto where = keys_.end();
  if constexpr (kOrder == JsonOrder::kSorted) where = std::lower_bound(keys_.begin(), keys_.end(), key);
  const auto position = where - keys_.begin();
  keys_.emplace(where, key);
  return *values_.emplace(values_.begin() + position);
}

template <JsonOrder kOrder>
BasicJson<kOrder>& BasicJson<kOrder>::at(std::string_view key) {
  return const_cast<BasicJson&>(static_cast<const BasicJson*>(this)->at(key));
}

template <JsonOrder kOrder>
const BasicJson<kOrder>& BasicJson<kOrder>::at(std::string_view key) const {
  if (!is_object()) ThrowKind("an object");
  const size_t found = Position(key);
  if (found == keys_.size())
    throw std::out_of_range("a JSON object has no member '" + std::string(key) + "'");
  return values_[found];
}

template <JsonOrder kOrder>
typename BasicJson<kOrder>::iterator BasicJson<kOrder>::find(std::string_view key) {
  return is_object() ? begin() + Position(key) : end();
}

template <JsonOrder kOrder>
typename BasicJson<kOrder>::const_iterator BasicJson<kOrder>::find(std::string_view key) const {
  return is_object() ? begin() + Position(key) : end();
}

template <JsonOrder kOrder>
void BasicJson<kOrder>::erase(std::string_view key) {
  if (!contains(key)) return;
  const auto found = static_cast<std::ptrdiff_t>(Position(key));
  keys_.erase(keys_.begin() + found);
  values_.erase(values_.begin() + found);
}

template <JsonOrder kOrder>
void BasicJson<kOrder>::update(const BasicJson& other) {
  for (const auto& [key, value] : other.items()) (*this)[key] = value;
}

template <JsonOrder kOrder>
bool BasicJson<kOrder>::Equals(const BasicJson& other) const {
  if (is_number() && other.is_number()) {
    if (kind_ == other.kind_ && kind_ != Kind::kDouble) return integer_ == other.integer_;
    if (is_number_integer() &&
        other.is_number_integer())  // one is signed, one is not: equal if the bits agree and no sign is set
      return integer_ == other.integer_ && integer_ >= 0;
    return get<double>() == other.get<double>();
  }
  if (kind_ != other.kind_) return false;
  if (is_boolean()) return integer_ == other.integer_;
  return text_ == other.text_ && keys_ == other.keys_ && values_ == other.values_;
}

template class BasicJson<JsonOrder::kSorted>;
template class BasicJson<JsonOrder::kAsAdded>;
#define HONE_JSON_GET(T)           \
  template T Json::get<T>() const; \
  template T OrderedJson::get<T>() const;
HONE_JSON_GET(bool)
HONE_JSON_GET(int)
HONE_JSON_GET(int64_t)
HONE_JSON_GET(size_t)
HONE_JSON_GET(double)
HONE_JSON_GET(std::string)
HONE_JSON_GET(std::vector<double>)
HONE_JSON_GET(std::vector<int64_t>)
HONE_JSON_GET(std::vector<std::string>)
#undef HONE_JSON_GET
template void Json::CopyFrom(const OrderedJson&);
template void OrderedJson::CopyFrom(const Json&);

// Builds a Json from the events of nlohmann's parser. Stops at the first mistake and at deep nesting.
class JsonReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return Add(Json()); }
  bool boolean(bool value) override { return Add(Json(value)); }
  bool number_integer(int64_t value) override { return Add(Json(value)); }
  bool number_unsigned(uint64_t value) override { return Add(Json(value)); }
  bool number_float(double value, const std::string&) override { return Add(Json(value)); }
  bool string(std::string& value) override { return Add(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return Open(Json::object()); }
  bool start_array(size_t) override { return Open(Json::array()); }
  bool key(std::string& name) override {
    keys_.back() = std::move(name);
    return true;
  }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

  bool too_deep() const { return too_deep_; }
  Json Take() { return std::move(result_); }

 private:
  bool Add(Json value) {
    if (open_.empty())
      result_ = std::move(value);
    else if (open_.back().is_array())
      open_.back().push_back(std::move(value));
    else
      open_.back()[keys_.back()] = std::move(value);
    return true;
  }
  bool Open(Json list) {
    too_deep_ = open_.size() >= kMaxNesting;
    open_.push_back(std::move(list));
    keys_.emplace_back();
    return !too_deep_;
  }
  bool Close() {
    Json done = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return Add(std::move(done));
  }

  Json result_;
  std::vector<Json> open_;         // the arrays and objects around the current position
  std::vector<std::string> keys_;  // parallel to open_: the member that is being read
  bool too_deep_ = false;
};

// Converts the value to nlohmann's type, which prints it.
struct JsonPrinter {
  template <JsonOrder kOrder>
  static nlohmann::ordered_json Convert(const BasicJson<kOrder>& value) {
    using Kind = typename BasicJson<kOrder>::Kind;
    switch (value.kind_) {
      case Kind::kNull:
        return nullptr;
      case Kind::kBool:
        return value.integer_ != 0;
      case Kind::kSigned:
        return value.integer_;
      case Kind::kUnsigned:
        return static_cast<uint64_t>(value.integer_);
      case Kind::kDouble:
        return value.number_;
      case Kind::kString:
        return value.text_;
      case Kind::kArray: {
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (const auto& element : value) list.push_back(Convert(element));
        return list;
      }
      case Kind::kObject: {
        nlohmann::ordered_json::object_t members;
        // Keys are unique already, so this skips ordered_map's search for a duplicate.
        auto& list = static_cast<nlohmann::ordered_json::object_t::Container&>(members);
        list.reserve(value.size());
        for (const auto& [key, member] : value.items()) list.emplace_back(key, Convert(member));
        return nlohmann::ordered_json(std::move(members));
      }
    }
    return nullptr;
  }

  template <JsonOrder kOrder>
  static std::string Print(const BasicJson<kOrder>& value, int indent) {
    return Convert(value).dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
};

Result<Json> ParseJson(std::string_view text) {
  JsonReader reader;
  if (nlohmann::json::sax_parse(text, &reader)) return reader.Take();
  return Error{ErrorKind::kInvalid, reader.too_deep() ? "JSON nested too deeply" : "not valid JSON"};
}

std::string DumpJson(const Json& value, int indent) {
  return JsonPrinter::Print(value, indent);
}

std::string DumpJson(const OrderedJson& value, int indent) {
  return JsonPrinter::Print(value, indent);
}

const Json& GetMember(const Json& object, std::string_view key) {
  static const Json kNull;
  const auto it = object.find(key);
  return it == object.end() ? kNull : *it;
}

std::string GetString(const Json& object, std::string_view key, const std::string& fallback) {
  const Json& member = GetMember(object, key);
  return member.is_string() ? member.str() : fallback;
}

double GetNumber(const Json& object, std::string_view key, double fallback) {
  const Json& member = GetMember(object, key);
  return member.is_number() ? member.get<double>() : fallback;
}

int64_t GetInt(const Json& object, std::string_view key, int64_t fallback) {
  const Json& member = GetMember(object, key);
  if (member.is_number_integer()) return member.get<int64_t>();
  if (member.is_number_float()) {
    const double value = member.get<double>();
    if (std::isfinite(value) && std::abs(value) < 9e18) return static_cast<int64_t>(value);
  }
  return fallback;
}

bool GetBool(const Json& object, std::string_view key, bool fallback) {
  const Json& member = GetMember(object, key);
  return member.is_boolean() ? member.get<bool>() : fallback;
}

void PrintTo(const Json& value, std::ostream* out) {
  *out << DumpJson(value);
}

void PrintTo(const OrderedJson& value, std::ostream* out) {
  *out << DumpJson(value);
}

}  // namespace hone
