// The files of a run in its folder (Recorder writes them), as a list that depends only on the store: an
// archive contains these and `hone gc` removes these. Other files in the folder belong to the user and stay
// untouched. A folder that cannot be shown to be this run's is left alone. Links are never followed.
#pragma once

#include <string>
#include <vector>

#include "store/run_store.h"

namespace hone {

// False for files that were imported without judging them: such a run has no folder. Earlier versions stored
// the user's own folder as the folder of the run; nothing may be written or deleted there.
bool OwnsItsFolder(const RunRecord& run);

// A folder for a new run is refused if it holds something under a name that the run would write, unless an
// earlier run wrote it.
Status CheckFolderIsFree(RunStore& store, const fs::path& folder);

// Relative names, sorted, whether the files exist or not.
Result<std::vector<std::string>> FilesOfRun(RunStore& store, int64_t run_id);
std::vector<std::string> FilesOfKeys(const std::vector<std::string>& calls,
                                     const std::vector<std::string>& candidates);

struct RunFolder {
  std::string not_ours;            // why the folder is left alone; empty: it is this run's
  std::vector<std::string> files;  // the run's files that exist
  int64_t bytes = 0;
};
// `shared` says that another stored run has the same folder.
Result<RunFolder> LookAtRunFolder(RunStore& store, const RunRecord& run, bool shared);

// Reads one of its files. Neither the folder nor the file may be a link.
Result<std::string> ReadRunFile(const RunRecord& run, const std::string& name);

// Removes `files` and then empty folders. Returns true if the run's folder itself was removed.
Result<bool> RemoveRunFiles(const RunRecord& run, const std::vector<std::string>& files);

}  // namespace hone
