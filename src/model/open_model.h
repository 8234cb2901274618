// From what a user writes after --proposer to a Model: "llm", "replay:DIR" or "exec:CMD".
#pragma once

#include <memory>
#include <string>

#include "model/http_model.h"
#include "model/model.h"

namespace hone {

// The options are for "llm" alone. "expert" is no model; see codegen.
Result<std::unique_ptr<Model>> OpenModel(const std::string& proposer, const HttpModelOptions& options);

}  // namespace hone
