// How a run reaches its language models: the options, what a run's record keeps of them (never a key), and
// the model that they make. With --model-repair there are two models, and settings of the second that it does
// not share with the first.
#pragma once

#include <memory>
#include <string>

#include "cli/common.h"
#include "model/model.h"
#include "pipeline/run_options.h"

namespace hone {

struct ModelFlags {
  std::string model;
  std::string api_base;
  std::string api_style = "auto";
  std::string api_key_env;
  std::string api_key_file;
  std::string prices;
  std::string extra;  // JSON merged into every request
  int64_t max_output_tokens = 0;
  double idle_timeout_s = 300;
  double temperature = -1;  // below 0: the server's own
  std::string reasoning_effort;
  // Of the model for calls that repair; empty: as above.
  std::string model_repair;
  std::string api_base_repair;
  std::string api_key_env_repair;  // both empty: the key above where the server is the same
  std::string api_key_file_repair;
  std::string extra_repair;
  std::string reasoning_effort_repair;
  // A run of an older version: its one key went to both servers.
  bool one_key = false;
};
void AddModelFlags(Command& command, ModelFlags* flags);

Json ToJson(const ModelFlags& flags);
ModelFlags ModelFlagsFromJson(const Json& json);

// An Error if an option of the model for repairs is given and nothing would use it.
Status CheckModelRoles(const RunOptions& options);
// Null where no model is asked.
Result<std::unique_ptr<Model>> ModelOf(const RunOptions& options);

}  // namespace hone
