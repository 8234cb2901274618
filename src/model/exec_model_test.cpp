#include "model/exec_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"

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

// Each start adds a line to a file, so that the program knows how often it was started.
TEST(Exec, StartsAProgramAgainThatPrintsNothingOrOneThingWithoutEnd) {
  const Result<TempFolder> folder = TempFolder::Make("hone-exec");
  const auto play = [&](const std::string& name, const std::string& bad, int times) {
    ExecOptions options;
    const std::string count = (folder->path() / name).string();
    options.command = "/bin/sh -c 'echo x >> " + count + "; if test $(wc -l < " + count + ") -le " +
                      std::to_string(times) + "; then " + bad + "; else cat; fi'";
    return RunExec(options);
  };
  const std::string endless = "yes the same line again and again | head -c 20000";
  const ModelReply empty = play("empty", "true", 1);
  EXPECT_TRUE(empty.ok()) << empty.message;
  EXPECT_EQ(empty.text, "the system\n\nthe prompt") << "asked as before";
  EXPECT_EQ(empty.attempts, 2);
  ASSERT_EQ(empty.notes.size(), 1U);
  EXPECT_THAT(empty.notes[0], HasSubstr("printed nothing on standard output"));

  const ModelReply looped = play("looped", endless, 1);
  EXPECT_TRUE(looped.ok()) << looped.message;
  EXPECT_THAT(looped.text,
              HasSubstr("the prompt\n\nAn earlier reply to this began to repeat the same lines"));
  EXPECT_GT(looped.usage.completion_tokens, 4000) << "what was dropped is counted";

  const ModelReply never = play("never", endless, 9);
  EXPECT_EQ(never.failure, ModelFailure::kBadReply);
  EXPECT_EQ(never.attempts, 3);
  EXPECT_THAT(never.message, HasSubstr("printed the same lines without end"));
  EXPECT_THAT(never.message, HasSubstr("(3 attempts)"));
  EXPECT_EQ(Lines(*ReadFile(folder->path() / "never")).size(), 3U);
  EXPECT_EQ(play("fails", "exit 3", 1).attempts, 1) << "a failure of the program is its own word";
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
  options.command = "/bin/sh -c 'head -c 70000 /dev/urandom | base64 -w 0 | head -c 70000'";
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
