// A JSON value, its parser and its printer.
//
// The value is Hone's own type, because nearly every file uses one and nlohmann's header takes the compiler
// three seconds. Only json.cpp includes that header, to parse and to print. Reading is lenient: ParseJson
// returns a Result, and GetString and its siblings return a fallback for a missing or mistyped member. at()
// and get<T>() are for values that Hone wrote itself; they throw if the value is wrong.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace hone {

template <JsonOrder kOrder>
class BasicJson {
 public:
  using value_type = BasicJson;
  using iterator = BasicJson*;
  using const_iterator = const BasicJson*;

  BasicJson();
  BasicJson(std::nullptr_t);
  template <std::same_as<bool> T>
  BasicJson(T value) : BasicJson(Kind::kBool, value ? 1 : 0) {}
  template <std::signed_integral T>
  BasicJson(T value) : BasicJson(Kind::kSigned, static_cast<int64_t>(value)) {}
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) BasicJson(T value)
      : BasicJson(Kind::kUnsigned, static_cast<int64_t>(value)) {}
  BasicJson(double value);
  BasicJson(std::string value);
  BasicJson(std::string_view value);
  BasicJson(const char* value);
  // A list of pairs that all start with a string becomes an object. Any other list becomes an array.
  BasicJson(std::initializer_list<BasicJson> values);
  template <class T>
  BasicJson(const std::vector<T>& values) : BasicJson(array()) {
    for (const auto& value : values) push_back(BasicJson(value));
  }
  template <class T>
  BasicJson(const std::set<T>& values) : BasicJson(array()) {
    for (const auto& value : values) push_back(BasicJson(value));
  }
  template <class T, class Less>
  BasicJson(const std::map<std::string, T, Less>& members) : BasicJson(object()) {
    for (const auto& [key, value] : members) (*this)[key] = BasicJson(value);
  }
  // Returns the same value with its members in the other order.
  template <JsonOrder kOther>
  requires(kOther != kOrder) BasicJson(const BasicJson<kOther>& other) { CopyFrom(other); }
  BasicJson(const BasicJson& other);
  BasicJson(BasicJson&& other) noexcept;
  BasicJson& operator=(const BasicJson& other);
  BasicJson& operator=(BasicJson&& other) noexcept;
  ~BasicJson();

  static BasicJson array();
  static BasicJson array(std::initializer_list<BasicJson> values);
  static BasicJson object();

  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_boolean() const { return kind_ == Kind::kBool; }
  bool is_number_integer() const { return kind_ == Kind::kSigned || kind_ == Kind::kUnsigned; }
  bool is_number_float() const { return kind_ == Kind::kDouble; }
  bool is_number() const { return is_number_integer() || is_number_float(); }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_object() const { return kind_ == Kind::kObject; }

  // T is bool, int, int64_t, size_t, double, std::string, or a vector of the last two. Throws
  // std::logic_error if the value has another kind.
  template <class T>
  T get() const;
  // Returns the string without a copy. Throws std::logic_error if the value is no string.
  const std::string& str() const;

  size_t size() const;  // 0 for null, 1 for a number, bool or string
  bool empty() const { return size() == 0; }
  // Iterates over the elements of an array or the values of an object.
  iterator begin() { return values_.data(); }
  iterator end() { return values_.data() + values_.size(); }
  const_iterator begin() const { return values_.data(); }
  const_iterator end() const { return values_.data() + values_.size(); }
  BasicJson& front() { return values_.front(); }
  BasicJson& back() { return values_.back(); }
  const BasicJson& front() const { return values_.front(); }
  const BasicJson& back() const { return values_.back(); }

  // For arrays. Adding an element to null makes it an array.
  void push_back(BasicJson value);
  template <std::integral T>
  BasicJson& operator[](T index) {
    return values_[static_cast<size_t>(index)];
  }
  template <std::integral T>
  const BasicJson& operator[](T index) const {
    return values_[static_cast<size_t>(index)];
  }
  template <std::integral T>
  BasicJson& at(T index) {
    return Element(static_cast<size_t>(index));
  }
  template <std::integral T>
  const BasicJson& at(T index) const {
    return const_cast<BasicJson*>(this)->Element(static_cast<size_t>(index));
  }

  // For objects. Naming a member of null makes it an object.
  BasicJson& operator[](std::string_view key);
  const BasicJson& operator[](std::string_view key) const { return at(key); }
  BasicJson& operator[](const char* key) { return (*this)[std::string_view(key)]; }
  const BasicJson& operator[](const char* key) const { return at(std::string_view(key)); }
  BasicJson& at(std::string_view key);
  const BasicJson& at(std::string_view key) const;
  BasicJson& at(const char* key) { return at(std::string_view(key)); }
  const BasicJson& at(const char* key) const { return at(std::string_view(key)); }
  bool contains(std::string_view key) const { return find(key) != end(); }
  iterator find(std::string_view key);
  const_iterator find(std::string_view key) const;
  void erase(std::string_view key);
  void update(const BasicJson& other);  // adds or replaces the members of `other`
  const std::vector<std::string>& keys() const { return keys_; }

  struct Member {
    const std::string& key;
    const BasicJson& value;
  };
  // Usage: for (const auto& [key, value] : json.items()). Yields nothing if the value is no object.
  class Members {
   public:
    explicit Members(const BasicJson& json) : json_(json) {}
    struct Iterator {
      const BasicJson* json;
      size_t at;
      Member operator*() const { return {json->keys_[at], json->values_[at]}; }
      Iterator& operator++() {
        ++at;
        return *this;
      }
      bool operator==(const Iterator& other) const { return at == other.at; }
    };
    Iterator begin() const { return {&json_, 0}; }
    Iterator end() const { return {&json_, json_.keys_.size()}; }

   private:
    const BasicJson& json_;
  };
  Members items() const { return Members(*this); }

  // Numbers compare by value (1 == 1.0). Objects with sorted members compare equal in any insertion order.
  friend bool operator==(const BasicJson& a, const BasicJson& b) { return a.Equals(b); }

 private:
  enum class Kind : uint8_t { kNull, kBool, kSigned, kUnsigned, kDouble, kString, kArray, kObject };
  template <JsonOrder>
  friend class BasicJson;
  friend struct JsonPrinter;

  BasicJson(Kind kind, int64_t bits) : kind_(kind), integer_(bits) {}
  template <JsonOrder kOther>
  void CopyFrom(const BasicJson<kOther>& other);
  BasicJson& Element(size_t index);
  size_t Position(std::string_view key) const;  // keys_.size() if the key is missing
  bool Equals(const BasicJson& other) const;

  Kind kind_ = Kind::kNull;
  union {
    int64_t integer_;  // also holds bool and the bits of uint64_t
    double number_;
  };
  std::string text_;
  std::vector<BasicJson> values_;  // elements of an array or values of an object
  std::vector<std::string> keys_;  // keys of an object, parallel to values_
};

extern template class BasicJson<JsonOrder::kSorted>;
extern template class BasicJson<JsonOrder::kAsAdded>;

Result<Json> ParseJson(std::string_view text);
// Prints one line. Replaces bytes that are not UTF-8, so that text from a candidate cannot make it throw.
std::string DumpJson(const Json& value, int indent = -1);
std::string DumpJson(const OrderedJson& value, int indent = -1);

std::string GetString(const Json& object, std::string_view key, const std::string& fallback = "");
double GetNumber(const Json& object, std::string_view key, double fallback = 0);
int64_t GetInt(const Json& object, std::string_view key, int64_t fallback = 0);
bool GetBool(const Json& object, std::string_view key, bool fallback = false);
// Returns the member, or null if it is missing.
const Json& GetMember(const Json& object, std::string_view key);

// GoogleTest prints values with this function.
void PrintTo(const Json& value, std::ostream* out);
void PrintTo(const OrderedJson& value, std::ostream* out);

}  // namespace hone
