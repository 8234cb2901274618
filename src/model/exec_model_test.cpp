#include "model/exec_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ModelReply RunExec(ExecOptions options, const std::string& prompt = "the prompt", double seconds = 30) {
  Result<std::unique_ptr<Model>> model = MakeExecModel(options);
  EXPECT_TRUE(model.ok()) << model.error().message;
  if (!model.ok()) return {};
  ModelRequest request{"seed", "the system", prompt, "seed/3", Deadline::After(seconds)};
  return (*model)->Ask(request, {});
}

ModelReply Shell(const std::string& script, const std::string& prompt = "the prompt") {
  ExecOptions options;
  options.command = "/bin/sh -c '" + script + "'";
  return RunExec(options, prompt);
}

TEST(SplitCommand, CutsAsAShellWouldAndExpandsNothing) {
  const auto words = [](const char* command) { return *SplitCommand(command); };
  EXPECT_THAT(words("a  b\tc"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(words(R"(a 'b c' "d \"e\" \n" f\ g '')"), ElementsAre("a", "b c", R"(d "e" \n)", "f g", ""));
  EXPECT_THAT(words(R"(run $HOME *.py; rm -rf ~ | x)"),
              ElementsAre("run", "$HOME", "*.py;", "rm", "-rf", "~", "|", "x"));
  for (const char* command : {"", "  ", "''", "a 'b", "a \"b"})
    EXPECT_FALSE(SplitCommand(command).ok()) << command;
}

TEST(Exec, GivesThePromptAndTakesTheReply) {
  const ModelReply reply = Shell("cat; echo; echo $HONE_CALL_TYPE $HONE_CALL_KEY");
  ASSERT_TRUE(reply.ok()) << reply.message;
  EXPECT_EQ(reply.text, "the system\n\nthe prompt\nseed seed/3\n");
  EXPECT_TRUE(reply.usage.estimated);
  EXPECT_FALSE(reply.usage.price_known);
}

TEST(Exec, ManagesAPromptThatIsNeverReadAndALongOneThatIs) {
  const std::string large(3 << 20, 'x');
  EXPECT_EQ(Shell("echo done", large).text, "done\n");
  EXPECT_EQ(Shell("wc -c", large).text, std::to_string(large.size() + 12) + "\n");
}

TEST(Exec, TellsWhyAProgramFailed) {
  const ModelReply reply = Shell("echo a reply; echo first >&2; echo out of credits >&2; exit 7");
  EXPECT_EQ(reply.failure, ModelFailure::kCommandFailed);
  EXPECT_THAT(reply.message, HasSubstr("exit code 7"));
  EXPECT_THAT(reply.message, HasSubstr("out of credits"));
  EXPECT_THAT(Shell("kill -9 $$").message, HasSubstr("signal 9"));
  EXPECT_EQ(Shell("echo oh >&2").failure, ModelFailure::kBadReply);
}

TEST(Exec, StopsAProgramThatTakesTooLong) {
  ExecOptions options;
  options.command = "/bin/sh -c 'sleep 60 & sleep 60'";
  options.max_seconds = 0.3;
  const ModelReply late = RunExec(options);
  EXPECT_EQ(late.failure, ModelFailure::kCommandFailed);
  EXPECT_LT(late.seconds, 20);
  options.max_seconds = 60;
  EXPECT_EQ(RunExec(options, "x", 0.3).failure, ModelFailure::kOutOfTime);
}

TEST(Exec, RefusesAReplyOverTheLimit) {
  ExecOptions options;
  options.command = "head -c 70000 /dev/zero";
  options.max_reply_bytes = 65536;
  EXPECT_EQ(RunExec(options).failure, ModelFailure::kTooLarge);
  options.max_reply_bytes = 70000;
  EXPECT_EQ(RunExec(options).failure, ModelFailure::kNone);
}

TEST(Exec, IsRefusedWhenTheProgramIsNotThere) {
  ExecOptions options;
  options.command = "/no/such/program --flag";
  EXPECT_EQ(MakeExecModel(options).error().kind, ErrorKind::kNotFound);
  options.command = "no-such-program-anywhere";
  EXPECT_EQ(MakeExecModel(options).error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace hone
