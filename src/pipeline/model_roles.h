// Two models with roles, as one: calls that mend a broken candidate go to a cheaper model, all others to the
// main one. Each call's record names the model that answered it. One budget covers both.
#pragma once

#include <memory>
#include <string>

#include "model/model.h"

namespace hone {

// Repairs of every stage, and the search's mending.
bool IsRepairCall(const std::string& call_type);

std::unique_ptr<Model> WithRepairModel(std::unique_ptr<Model> main, std::unique_ptr<Model> repair);

}  // namespace hone
