// Prepared statements, transactions and their errors, for the files of this room only.
#pragma once

#include <sqlite3.h>

#include <string>

#include "base/result.h"

namespace hone {

class Statement {
 public:
  Statement(sqlite3* handle, const char* sql) {
    ok_ = sqlite3_prepare_v2(handle, sql, -1, &statement_, nullptr) == SQLITE_OK;
  }
  Statement(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }
  bool ok() const { return ok_; }
  void Bind(int index, const std::string& text) {
    sqlite3_bind_text(statement_, index, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  void Bind(int index, const char* text) { Bind(index, std::string(text)); }
  void Bind(int index, double value) { sqlite3_bind_double(statement_, index, value); }
  void Bind(int index, int64_t value) { sqlite3_bind_int64(statement_, index, value); }
  void Bind(int index, int value) { sqlite3_bind_int64(statement_, index, value); }
  void Bind(int index, bool value) { sqlite3_bind_int64(statement_, index, value ? 1 : 0); }
  void BindNull(int index) { sqlite3_bind_null(statement_, index); }
  template <class... T>
  void BindAll(const T&... values) {
    int index = 1;
    (Bind(index++, values), ...);
  }
  int Step() { return sqlite3_step(statement_); }
  std::string Text(int column) {
    const unsigned char* text = sqlite3_column_text(statement_, column);
    return text == nullptr ? ""
                           : std::string(reinterpret_cast<const char*>(text),
                                         static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
  }
  bool IsNull(int column) { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  double Number(int column) { return sqlite3_column_double(statement_, column); }
  int64_t Integer(int column) { return sqlite3_column_int64(statement_, column); }

 private:
  sqlite3_stmt* statement_ = nullptr;
  bool ok_;
};

Error SqlError(sqlite3* handle, const std::string& doing);
Status Execute(sqlite3* handle, const char* sql);

// Makes the changes of `write` visible to other connections together, or not at all if it fails. `write`
// returns a Status or a Result.
template <class Write>
auto InTransaction(sqlite3* handle, const Write& write) -> decltype(write()) {
  HONE_RETURN_IF_ERROR(Execute(handle, "BEGIN IMMEDIATE"));
  auto written = write();
  if (!written.ok()) {
    (void)Execute(handle, "ROLLBACK").ok();
    return written;
  }
  HONE_RETURN_IF_ERROR(Execute(handle, "COMMIT"));
  return written;
}

}  // namespace hone
