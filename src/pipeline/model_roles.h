// Combines two models into one: calls that repair a broken candidate go to a cheaper model, all others to the
// main one. Each call's record names the model that answered it. Both share one budget.
#pragma once

#include <memory>
#include <string>

#include "model/model.h"

namespace hone {

// True for repairs of every stage, and for the search's repairs.
bool IsRepairCall(const std::string& call_type);

std::unique_ptr<Model> WithRepairModel(std::unique_ptr<Model> main, std::unique_ptr<Model> repair);

}  // namespace hone
