// The store: one SQLite file with every verdict and its provenance. Several Hone processes may write at once
// (WAL). The schema has a version and is migrated forward only.
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
  // Opens <data folder>/hone.db and creates it if it is missing.
  static Result<Store> Open(const fs::path& path = DataFolder() / "hone.db");
  // Opens a private store in memory, which ends with this object.
  static Result<Store> OpenInMemory();
  // For readers: never writes, never waits for a writer (WAL), and aborts a query at Ctrl-C. The store must
  // exist and have the schema of this hone.
  static Result<Store> OpenReadOnly(const fs::path& path = DataFolder() / "hone.db");
  Store(Store&&) noexcept;
  ~Store();

  // Returns the id of the new row.
  Result<int64_t> Save(const VerdictRecord& record);
  Result<VerdictRecord> Verdict(int64_t id);
  // Newest first.
  Result<std::vector<VerdictRecord>> Verdicts(int most);

  // For RunStore.
  sqlite3* handle() { return handle_.get(); }

 private:
  struct Closer {
    void operator()(sqlite3* handle) const;
  };
  explicit Store(sqlite3* handle);
  Status Migrate();
  // Adds columns for fields that are newer than the store.
  Status AddMissingColumns();
  int Version();
  std::unique_ptr<sqlite3, Closer> handle_;
};

}  // namespace hone
