#include "cli/run_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "store/run_result.h"

namespace hone {
namespace {

TEST(EndText, SentencesFitTheWidthOfAPipe) {
  RunRecord run;
  run.task = "39_GRU";
  run.name = "r";
  RunEnd end;
  end.status = "failed";
  end.result = kRunFailed;
  end.outcome = "the task does not load: " + std::string(40, 'x') + " " + std::string(40, 'y');
  const std::string text = EndText(run, end, Style(false, 60));
  EXPECT_THAT(Lines(text), testing::Each(testing::SizeIs(testing::Le(60U))));
  EXPECT_THAT(text,
              testing::HasSubstr("  ended early   the task does not load:\n" + std::string(16, ' ') + "xx"));
}

TEST(EndText, NamesTheFileOnlyWhereItIsAnAnswer) {
  RunRecord run;
  run.task = "39_GRU";
  run.folder = "/runs/r";
  RunEnd end;
  end.status = "done";
  for (const char* result : {kRunFailed, kNoneRight, kCannotJudge, kNothingTried}) {
    end.result = result;
    const std::string text = EndText(run, end, Style(false, 60));
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("best.py"))) << result;
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("PyTorch"))) << result;
    EXPECT_THAT(text, testing::StartsWith(std::string("39_GRU  ") + ResultWords(result) + "\n"));
  }
  end.result = kKeptPyTorch;
  EXPECT_THAT(EndText(run, end, Style(false, 60)), testing::HasSubstr("  file          /runs/r/best.py\n"));
  end.result = kAccepted;
  end.best.emplace();
  EXPECT_THAT(EndText(run, end, Style(false, 60)), testing::HasSubstr("  file          /runs/r/best.py\n"));
}

}  // namespace
}  // namespace hone
