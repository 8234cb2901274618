// Small text helpers that every room needs: splitting, trimming, human units, and making text written by
// strangers (candidates, compilers, models) safe to show on a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

std::vector<std::string> Split(std::string_view text, char separator);
std::vector<std::string> Lines(std::string_view text);
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view Trim(std::string_view text);
// Without the periods at its end, for a text that becomes part of a sentence.
std::string_view TrimPeriods(std::string_view text);
std::string ToLower(std::string_view text);
bool StartsWith(std::string_view text, std::string_view prefix);
bool EndsWith(std::string_view text, std::string_view suffix);
bool Contains(std::string_view text, std::string_view part);
std::string ReplaceAll(std::string text, std::string_view from, std::string_view to);

// "1.5 GiB", "312 B".
std::string HumanBytes(double bytes);
// "3.2 s", "850 us", "2 min 10 s".
std::string HumanSeconds(double seconds);
// Three significant digits, no exponent for everyday sizes: "0.000412" -> "4.12e-04".
std::string HumanNumber(double value);

// Drops control characters and terminal escapes, replaces invalid UTF-8, and keeps newlines and tabs.
std::string SafeForTerminal(std::string_view text);
// Valid UTF-8 in every case: broken bytes become U+FFFD.
std::string ValidUtf8(std::string_view text);
// The last `max` bytes at a line boundary, with a mark where something was left out.
std::string Tail(std::string_view text, size_t max);

// The candidate name closest to `word` by edit distance, or empty when none is near.
std::string ClosestWord(std::string_view word, const std::vector<std::string>& known);

}  // namespace hone
