#include "model/usage.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/json.h"

namespace hone {

namespace {

bool IsLower(char c) {
  return c >= 'a' && c <= 'z';
}
bool IsUpper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

double WordTokens(int64_t length) {
  return length <= 7 ? 1 : 1 + static_cast<double>(length - 7) / 5;
}

}  // namespace

void TokenCounter::Close() {
  switch (piece_) {
    case Piece::kNone:
      break;
    case Piece::kUpper:
      tokens_ += WordTokens(length_) + static_cast<double>(std::max<int64_t>(0, length_ - 3)) / 4;
      break;
    case Piece::kLower:
    case Piece::kCapitalised:
      tokens_ += WordTokens(length_);
      break;
    case Piece::kDigits: {
      const int64_t groups = (length_ + 2) / 3;
      tokens_ += static_cast<double>(groups);
      break;
    }
    case Piece::kNewline:
      tokens_ += 1;
      break;
    case Piece::kBlank:  // a single blank belongs to the word after it
      tokens_ += length_ == 1 ? 0 : 1;
      break;
    case Piece::kOther:
      tokens_ += length_ == 1 ? 1 : static_cast<double>(length_) / 2;
      break;
  }
  piece_ = Piece::kNone;
  length_ = 0;
}

void TokenCounter::Add(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) {
      // One token per character: right for Chinese, high for accents, low for rare scripts.
      Close();
      if ((byte & 0xc0) != 0x80) tokens_ += 1;
      continue;
    }
    Piece next = Piece::kOther;
    if (IsLower(c)) {
      next = piece_ == Piece::kCapitalised ? Piece::kCapitalised : Piece::kLower;
      if (piece_ == Piece::kUpper) {
        // "HTTPServer": the last capital begins the next word.
        --length_;
        if (length_ > 0) Close();
        piece_ = next = Piece::kCapitalised;
        length_ = 1;
      }
    } else if (IsUpper(c)) {
      next = Piece::kUpper;
    } else if (IsDigit(c)) {
      next = Piece::kDigits;
    } else if (c == '\n') {
      next = Piece::kNewline;
    } else if (IsBlank(c)) {
      next = piece_ == Piece::kNewline ? Piece::kNewline : Piece::kBlank;
    }
    if (next != piece_) Close();
    piece_ = next;
    ++length_;
  }
}

int64_t TokenCounter::count() const {
  TokenCounter closed = *this;
  closed.Close();
  return static_cast<int64_t>(std::ceil(closed.tokens_));
}

int64_t EstimateTokens(std::string_view text) {
  TokenCounter counter;
  counter.Add(text);
  return counter.count();
}

OrderedJson ToJson(const Usage& usage) {
  OrderedJson json = OrderedJson::object();
  for (const UsageField& field : kUsageFields)
    std::visit([&](auto member) { json[field.name] = usage.*member; }, field.member);
  return json;
}

Usage UsageFromJson(const Json& json) {
  Usage usage;
  for (const UsageField& field : kUsageFields)
    std::visit(
        [&](auto member) {
          using T = std::decay_t<decltype(usage.*member)>;
          if constexpr (std::is_same_v<T, bool>)
            usage.*member = GetBool(json, field.name);
          else if constexpr (std::is_same_v<T, double>)
            usage.*member = GetNumber(json, field.name);
          else
            usage.*member = GetInt(json, field.name);
        },
        field.member);
  return usage;
}

Usage operator+(const Usage& a, const Usage& b) {
  Usage sum;
  for (const UsageField& field : kUsageFields)
    std::visit(
        [&](auto member) {
          if constexpr (std::is_same_v<decltype(member), bool Usage::*>)
            sum.*member =
                field.adds == UsageField::Adds::kIfAny ? a.*member || b.*member : a.*member && b.*member;
          else
            sum.*member = a.*member + b.*member;
        },
        field.member);
  return sum;
}

}  // namespace hone
