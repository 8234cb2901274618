// Result<T>: a value, or an Error that says in one sentence why Hone failed.
//
// Errors are for Hone's own failures (a missing file, no Python, a full disk). A candidate's failure is never
// an Error but a Verdict (see verdict/). Callers add context with WithContext.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace hone {

enum class ErrorKind {
  kUsage,        // the user's request makes no sense: exit code 2
  kNotFound,     // a file, program or record is missing
  kInvalid,      // some input has the wrong form
  kUnavailable,  // this machine lacks something (GPU, torch, compiler)
  kIo,           // the operating system reported an error
  kTimeout,      // Hone's own deadline passed
  kInterrupted,  // Ctrl-C, or the time limit of the whole run
  kInternal,     // a bug in Hone
};

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;

  Error WithContext(const std::string& context) && {
    message = context + ": " + message;
    return std::move(*this);
  }
};

struct Unit {};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

  Result WithContext(const std::string& context) && {
    if (ok()) return std::move(*this);
    return std::move(*this).error().WithContext(context);
  }

 private:
  std::variant<T, Error> state_;
};

using Status = Result<Unit>;
inline Status Ok() {
  return Unit{};
}

// An Error with the text of the current errno and the action that failed.
Error ErrnoError(const std::string& doing);

}  // namespace hone

#define HONE_CONCAT_INNER(a, b) a##b
#define HONE_CONCAT(a, b) HONE_CONCAT_INNER(a, b)

#define HONE_RETURN_IF_ERROR(expr)                                                           \
  do {                                                                                       \
    if (auto hone_status = (expr); !hone_status.ok()) return std::move(hone_status).error(); \
  } while (false)

#define HONE_ASSIGN_OR_RETURN(lhs, expr) \
  HONE_ASSIGN_OR_RETURN_IMPL(HONE_CONCAT(hone_result_, __LINE__), lhs, expr)
#define HONE_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                               \
  if (!tmp.ok()) return std::move(tmp).error();    \
  lhs = std::move(tmp).value()
