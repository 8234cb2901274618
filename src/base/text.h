// Small text helpers for all rooms: splitting, trimming, human-readable units, and making untrusted text
// (from candidates, compilers, models) safe to print on a terminal.
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
// Removes periods at the end, for text that becomes part of a sentence.
std::string_view TrimPeriods(std::string_view text);
std::string ToLower(std::string_view text);
bool StartsWith(std::string_view text, std::string_view prefix);
bool EndsWith(std::string_view text, std::string_view suffix);
bool Contains(std::string_view text, std::string_view part);
std::string ReplaceAll(std::string text, std::string_view from, std::string_view to);
std::string Base64(std::string_view bytes);

// "1.5 GiB", "312 B".
std::string HumanBytes(double bytes);
// "3.2 s", "850 us", "2 min 10 s".
std::string HumanSeconds(double seconds);
// Three significant digits. Uses an exponent only for very small or large values: "0.000412" -> "4.12e-04".
std::string HumanNumber(double value);

// Drops control characters and terminal escapes, replaces invalid UTF-8, and keeps newlines and tabs.
std::string SafeForTerminal(std::string_view text);
// Returns valid UTF-8 for any input. Invalid bytes become U+FFFD.
std::string ValidUtf8(std::string_view text);
// Returns the last `max` bytes from a line boundary on, with a mark if text was left out.
std::string Tail(std::string_view text, size_t max);

// Returns the known name closest to `word` by edit distance, or an empty string if none is near.
std::string ClosestWord(std::string_view word, const std::vector<std::string>& known);

}  // namespace hone
