// How a run reaches its language models: the options, the part that a run's record keeps (never a key), and
// the resulting model. With --model-repair there are two models, and settings of the second that differ from
// the first's.
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
  double temperature = -1;  // below 0: the server's default
  std::string reasoning_effort;
  // For the model of repair calls; empty: as above.
  std::string model_repair;
  std::string api_base_repair;
  std::string api_key_env_repair;  // both empty: the key above, if the server is the same
  std::string api_key_file_repair;
  std::string extra_repair;
  std::string reasoning_effort_repair;
  // A run of an older version, whose single key went to both servers.
  bool one_key = false;
};
void AddModelFlags(Command& command, ModelFlags* flags);

Json ToJson(const ModelFlags& flags);
ModelFlags ModelFlagsFromJson(const Json& json);

// Returns an Error if an option of the repair model is given but unused.
Status CheckModelRoles(const RunOptions& options);
// Returns an Error if a limit of calls, tokens or money could not hold: a model has no known price, or Hone
// does not see what a program spends. A price of 0 is a known price.
Status CheckSpendLimits(const RunOptions& options);
// Null without a model. Checks the spend limits first, so that neither a new run nor a resumed one begins
// with a limit that means nothing.
Result<std::unique_ptr<Model>> ModelOf(const RunOptions& options);

}  // namespace hone
