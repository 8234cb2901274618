// The store: one SQLite file that remembers every verdict with its provenance. Several Hone processes may
// write at once (WAL); the schema carries a version and is migrated forward, never backward.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "store/records.h"

struct sqlite3;

namespace hone {

class Store {
 public:
  // <data folder>/hone.db, made when it is not there.
  static Result<Store> Open(const fs::path& path = DataFolder() / "hone.db");
  // One that nobody else sees, and that is gone with this object.
  static Result<Store> OpenInMemory();
  // For those who only look: never writes, never waits for a writer (WAL), gives up a query at Ctrl-C. The
  // store must be there with the schema of this hone.
  static Result<Store> OpenReadOnly(const fs::path& path = DataFolder() / "hone.db");
  Store(Store&&) noexcept;
  ~Store();

  // Returns the id.
  Result<int64_t> Save(const VerdictRecord& record);
  Result<VerdictRecord> Verdict(int64_t id);
  // The newest first.
  Result<std::vector<VerdictRecord>> Verdicts(int most);

  // For RunStore.
  sqlite3* handle() { return handle_.get(); }

 private:
  struct Closer {
    void operator()(sqlite3* handle) const;
  };
  explicit Store(sqlite3* handle);
  Status Migrate();
  // For fields that were added to a record since the store was made.
  Status AddMissingColumns();
  int Version();
  std::unique_ptr<sqlite3, Closer> handle_;
};

}  // namespace hone
