// The parts of a usage beyond its two totals, in words: tokens read from a server's cache, written to it, or
// spent on reasoning, and their cost. Parts that are zero are left out.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "store/records.h"

namespace hone {

// "1,200 cached ($0.0006), 500 reasoning ($0.0125)"; empty if all parts are zero. Only the tokens if the
// price is unknown.
std::string PartsOf(const Usage& usage);
// "1,000 in, 300 out, $0.0041; of these 200 cached ($0.0001)".
std::string UsageWords(const Usage& usage);

// Table columns for the parts that are not zero in `all`, and the cells of one row for them.
std::vector<std::string> PartColumns(const Usage& all);
std::vector<std::string> PartCells(const Usage& one, const Usage& all);

// The record's JSON without the parts that are all zero.
OrderedJson UsageJson(const UsageTotals& usage);
OrderedJson CallJson(const CallRecord& call);

}  // namespace hone
