// The files a run leaves in its folder (Recorder writes them), as a list that the store alone decides: an
// archive packs these and `hone gc` removes these. Whatever else lies there is somebody's own and stays
// untouched; a folder that cannot be shown to be this run's is left alone altogether. Links are never
// followed.
#pragma once

#include <string>
#include <vector>

#include "store/run_store.h"

namespace hone {

// Relative names, sorted, whether they exist or not.
Result<std::vector<std::string>> FilesOfRun(RunStore& store, int64_t run_id);
std::vector<std::string> FilesOfKeys(const std::vector<std::string>& calls,
                                     const std::vector<std::string>& candidates);

struct RunFolder {
  std::string not_ours;            // why it is left alone; empty: it is this run's
  std::vector<std::string> files;  // those of the run that exist
  int64_t bytes = 0;
};
// `shared` says that another stored run has the same folder.
Result<RunFolder> LookAtRunFolder(RunStore& store, const RunRecord& run, bool shared);

// One of its files; the folder and the file must not be links.
Result<std::string> ReadRunFile(const RunRecord& run, const std::string& name);

// Removes `files` and the folders that are empty then. True when the run's folder itself is gone.
Result<bool> RemoveRunFiles(const RunRecord& run, const std::vector<std::string>& files);

}  // namespace hone
