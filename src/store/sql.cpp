#include "store/sql.h"

namespace hone {

Error SqlError(sqlite3* handle, const std::string& doing) {
  const int code = sqlite3_errcode(handle);
  std::string message = doing + ": " + sqlite3_errmsg(handle);
  if (code == SQLITE_FULL) message += " (free some space; nothing that was stored is lost)";
  return Error{ErrorKind::kIo, message};
}

Status Execute(sqlite3* handle, const char* sql) {
  if (sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return SqlError(handle, "cannot write");
  return Ok();
}

}  // namespace hone
