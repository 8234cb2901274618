// An explanation in words, sentence by sentence, and as text, Markdown and JSON.
#pragma once

#include <string>

#include "base/json.h"
#include "report/document.h"
#include "report/explanation.h"
#include "report/messages.h"

namespace hone {

// "3.21x [3.10, 3.30]"; empty when it was not timed.
std::string SpeedWords(const Speed& speed);
// "3.21x".
std::string Times(double factor);
// A stable id in English, where users look for it; its meaning in other languages.
std::string ReasonWords(const std::string& reason, Language language);
std::string VerdictWords(const std::string& verdict, const std::string& reason, Language language);
std::string PhaseWords(const std::string& phase, Language language);

std::string OutcomeSentence(const Explanation& told, Language language);
std::string CauseSentence(const Cause& cause, Language language);
std::string FindingSentence(const CauseFinding& finding, Language language);
std::string DifferenceSentence(const Difference& difference, Language language);
std::string CounterfactualSentence(const Counterfactual& one, const Explanation& told, Language language);
std::string NextSentence(const NextTry& next, Language language);
// A fact's value for people: verdicts and kinds in the language, "-" for what is not known.
std::string FactValue(const std::string& id, const std::string& value, Language language);

Document ExplanationDocument(const Explanation& told, Language language);
// Ids and numbers, with the sentences beside them.
OrderedJson ToJson(const Explanation& told, Language language);

}  // namespace hone
