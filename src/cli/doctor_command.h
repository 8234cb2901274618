// `hone doctor` prints on one screen what this machine has. For each missing item it says what it is for and
// which command installs it.
#pragma once

#include <string>

#include "base/json_fwd.h"
#include "base/terminal.h"
#include "cli/doctor_facts.h"

namespace hone {

std::string DoctorText(const DoctorFacts& facts, const Style& style);
OrderedJson DoctorJson(const DoctorFacts& facts);

}  // namespace hone
