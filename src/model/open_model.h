// Makes a Model from the value of --proposer: "llm", "replay:DIR" or "exec:CMD".
#pragma once

#include <memory>
#include <string>

#include "model/http_model.h"
#include "model/model.h"

namespace hone {

// The options apply to "llm" only. "expert" is not a model; see codegen.
Result<std::unique_ptr<Model>> OpenModel(const std::string& proposer, const HttpModelOptions& options);

}  // namespace hone
