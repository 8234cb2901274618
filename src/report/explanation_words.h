// The sentences of an explanation, and its forms as text, Markdown and JSON.
#pragma once

#include <string>

#include "base/json_fwd.h"
#include "report/document.h"
#include "report/explanation.h"
#include "report/messages.h"

namespace hone {

// "3.21x [3.10, 3.30]"; empty if it was not timed.
std::string SpeedWords(const Speed& speed);
// "3.21x".
std::string Times(double factor);
// A stable id in English, as in the documentation; its translation in other languages.
std::string ReasonWords(const std::string& reason, ReportLanguage language);
std::string VerdictWords(const std::string& verdict, const std::string& reason, ReportLanguage language);
std::string PhaseWords(const std::string& phase, ReportLanguage language);

std::string OutcomeSentence(const Explanation& told, ReportLanguage language);
std::string CauseSentence(const Cause& cause, ReportLanguage language);
std::string FindingSentence(const CauseFinding& finding, ReportLanguage language);
std::string DifferenceSentence(const Difference& difference, ReportLanguage language);
std::string CounterfactualSentence(const Counterfactual& one, const Explanation& told,
                                   ReportLanguage language);
std::string NextSentence(const NextTry& next, ReportLanguage language);
// A fact's value for users: verdicts and kinds are translated, "-" if unknown.
std::string FactValue(const std::string& id, const std::string& value, ReportLanguage language);

// What the run would have recommended without the part, as AnswerOf (store/run_result.h) returns it. If that
// differs from the actual answer, PyTorch is at least what remains.
std::string BestWithout(const Counterfactual& one, const Explanation& told);

Document ExplanationDocument(const Explanation& told, ReportLanguage language);
// Ids and numbers, together with the sentences.
OrderedJson ToJson(const Explanation& told, ReportLanguage language);

}  // namespace hone
