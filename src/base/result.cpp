#include "base/result.h"

#include <cerrno>
#include <cstring>

namespace hone {

Error ErrnoError(const std::string& doing) {
  const int code = errno;
  ErrorKind kind = code == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo;
  std::string message = doing + ": " + std::strerror(code);
  if (code == ENOSPC) message += " (free some space and run the same command again)";
  return Error{kind, message};
}

}  // namespace hone
