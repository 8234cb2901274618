// `hone doctor`: one screen of what this machine has, and for each missing thing what it would give and
// the command that gets it.
#pragma once

#include <string>

#include "base/json_fwd.h"
#include "base/terminal.h"
#include "cli/doctor_facts.h"

namespace hone {

std::string DoctorText(const DoctorFacts& facts, const Style& style);
OrderedJson DoctorJson(const DoctorFacts& facts);

}  // namespace hone
