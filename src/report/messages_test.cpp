#include "report/messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "model/model.h"
#include "verdict/verdict.h"

namespace hone {
namespace {

std::set<char> Values(std::string_view text) {
  std::set<char> values;
  for (size_t i = 0; i + 2 < text.size(); ++i)
    if (text[i] == '{' && text[i + 2] == '}') values.insert(text[i + 1]);
  return values;
}

bool HasChinese(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0xE3; });
}

TEST(Messages, EveryOneIsThereInBothLanguagesWithTheSameValues) {
  std::set<std::string_view> seen;
  for (const MessageText& message : AllMessages()) {
    EXPECT_TRUE(seen.insert(message.id).second) << message.id << " is there twice";
    EXPECT_FALSE(message.english.empty()) << message.id;
    EXPECT_FALSE(message.chinese.empty()) << message.id;
    EXPECT_EQ(Values(message.english), Values(message.chinese)) << message.id;
    EXPECT_FALSE(HasChinese(message.english)) << message.id;
    // Names are not translated.
    if (message.english != "PyTorch") {
      EXPECT_TRUE(HasChinese(message.chinese)) << message.id;
      EXPECT_NE(message.english, message.chinese) << message.id;
    }
  }
}

TEST(Messages, ThereIsOneForEveryIdThatARecordCanHold) {
  for (const std::string& reason : RejectReasons()) EXPECT_TRUE(HasMessage("reason." + reason)) << reason;
  for (const Decision decision : {Decision::kCannotJudge, Decision::kInconclusive}) {
    EXPECT_TRUE(HasMessage(std::string("verdict.") + NameOf(decision)));
    for (const std::string& reason : ReasonNames(decision))
      EXPECT_TRUE(HasMessage("reason." + reason)) << reason;
  }
  for (const char* reason : {"faster", "no-difference", "no-code"})
    EXPECT_TRUE(HasMessage(std::string("reason.") + reason)) << reason;
  for (const std::string& type : CallTypes()) EXPECT_TRUE(HasMessage("phase." + type)) << type;
  for (const char* phase : {"zero", "tuned", "expert", "imported"})
    EXPECT_TRUE(HasMessage(std::string("phase.") + phase)) << phase;
  for (const char* verdict :
       {"", "accepted", "rejected", "no_difference", "baseline", "analysis", "sent_back", "no_answer"})
    EXPECT_TRUE(HasMessage(std::string("verdict.") + verdict)) << verdict;
  for (const char* status : {"running", "killed", "stopped", "failed"})
    EXPECT_TRUE(HasMessage(std::string("status.") + status)) << status;
}

TEST(Messages, ValuesAreFilledInWhereTheLanguageWantsThem) {
  EXPECT_EQ(Words(ReportLanguage::kEnglish, "difference.left_out", {"12"}),
            "12 more lines of the diff are not shown.");
  EXPECT_EQ(Words(ReportLanguage::kChinese, "difference.left_out", {"12"}), "差异中另有 12 行未列出。");
  EXPECT_EQ(Words(ReportLanguage::kEnglish, "no.such.message"), "no.such.message");
}

TEST(Messages, AValueIsNeverReadAsAMessage) {
  EXPECT_EQ(Words(ReportLanguage::kEnglish, "status.failed", {"{0} {1}"}), "The run failed: {0} {1}.");
}

}  // namespace
}  // namespace hone
