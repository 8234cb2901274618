#include "model/exec_model.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/interrupt.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "model/loop_watch.h"
#include "model/reply_check.h"
#include "model/usage.h"
#include "process/child.h"

namespace hone {

namespace {

// Puts the whole prompt into a memory file, so that a program that reads late or never does not block.
Result<UniqueFd> InMemory(const std::string& text) {
  UniqueFd file(memfd_create("hone-prompt", MFD_CLOEXEC));
  if (!file.valid()) return ErrnoError("cannot make a file in memory");
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(file.get(), text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return ErrnoError("cannot write the prompt");
    done += static_cast<size_t>(wrote);
  }
  if (lseek(file.get(), 0, SEEK_SET) != 0) return ErrnoError("cannot rewind the prompt");
  return file;
}

std::string LastLines(const std::string& text) {
  constexpr size_t kMax = 600;
  const std::string tail(Trim(Tail(text, kMax)));
  return tail.empty() ? "; it printed nothing on standard error" : "; it said:\n" + SafeForTerminal(tail);
}

class ExecModel : public Model {
 public:
  ExecModel(ExecOptions options, std::vector<std::string> argv)
      : options_(std::move(options)), argv_(std::move(argv)) {}

  std::string name() const override { return "exec:" + options_.command; }

  ModelReply Ask(const ModelRequest& request, const ModelProgress& progress) override {
    Stopwatch watch;
    ModelReply reply = RunUntilUsable(request, progress);
    reply.model = "exec:" + argv_[0];
    reply.seconds = watch.seconds();
    if (progress.tokens && reply.ok()) progress.tokens(reply.usage.completion_tokens);
    return reply;
  }

 private:
  static ModelReply Failed(ModelFailure failure, std::string message) {
    ModelReply reply;
    reply.failure = failure;
    reply.message = std::move(message);
    return reply;
  }

  // An empty reply and an endless one are asked for again, as from a server.
  ModelReply RunUntilUsable(const ModelRequest& request, const ModelProgress& progress) const {
    ModelRequest asked = request;
    std::vector<std::string> notes;
    Usage used;
    for (int attempt = 1;; ++attempt) {
      ModelReply reply = Run(asked);
      used = attempt == 1 ? reply.usage : used + reply.usage;
      const bool bad = reply.failure == ModelFailure::kBadReply;
      if (!bad || attempt >= options_.max_bad_replies || Interrupted() || request.deadline.passed()) {
        if (bad && attempt > 1) reply.message += fmt::format(" ({} attempts)", attempt);
        reply.usage = used;
        reply.attempts = attempt;
        reply.notes = std::move(notes);
        return reply;
      }
      notes.push_back(reply.message + "; started again");
      if (progress.note) progress.note(notes.back());
      if (!Trim(reply.text).empty()) asked.prompt = request.prompt + kDoNotRepeat;
    }
  }

  ModelReply Run(const ModelRequest& request) const {
    const std::string prompt =
        request.system.empty() ? request.prompt : request.system + "\n\n" + request.prompt;
    Result<UniqueFd> input = InMemory(prompt);
    if (!input.ok()) return Failed(ModelFailure::kCommandFailed, input.error().message);
    ChildSpec spec;
    spec.argv = argv_;
    spec.env = CurrentEnvironment();
    SetVariable(spec.env, "HONE_CALL_TYPE", request.call_type);
    SetVariable(spec.env, "HONE_CALL_KEY", request.key);
    spec.descriptors = {{input->get(), STDIN_FILENO}};
    // A child's output is kept as two halves. Up to the limit, nothing may be lost between them.
    spec.output_cap = 2 * options_.max_reply_bytes + 2;
    const double seconds = std::min(options_.max_seconds, request.deadline.seconds_left());
    Result<ExitReport> end = RunProgram(spec, Deadline::After(seconds));
    if (Interrupted()) return Failed(ModelFailure::kInterrupted, "interrupted");
    if (!end.ok()) return Failed(ModelFailure::kUnreachable, end.error().message);
    return FromEnd(*end, prompt, request);
  }

  ModelReply FromEnd(const ExitReport& end, const std::string& prompt, const ModelRequest& request) const {
    const std::string who = "the proposer " + argv_[0];
    if (end.timed_out && request.deadline.passed())
      return Failed(ModelFailure::kOutOfTime, who + ": the time for this call is over" + LastLines(end.err));
    if (end.timed_out)
      return Failed(ModelFailure::kCommandFailed, fmt::format("{} was stopped after {}{}", who,
                                                              HumanSeconds(end.seconds), LastLines(end.err)));
    if (end.signal != 0)
      return Failed(ModelFailure::kCommandFailed,
                    fmt::format("{} was killed by signal {}{}", who, end.signal, LastLines(end.err)));
    if (end.code != 0)
      return Failed(ModelFailure::kCommandFailed,
                    fmt::format("{} ended with exit code {}{}", who, end.code, LastLines(end.err)));
    if (end.out.size() > options_.max_reply_bytes)
      return Failed(ModelFailure::kTooLarge,
                    fmt::format("{} printed more than {}", who,
                                HumanBytes(static_cast<double>(options_.max_reply_bytes))));
    ModelReply reply;
    reply.text = ValidUtf8(end.out);
    reply.finish_reason = "stop";
    reply.usage.prompt_tokens = EstimateTokens(prompt);
    reply.usage.completion_tokens = EstimateTokens(reply.text);
    reply.usage.estimated = true;
    if (Trim(reply.text).empty()) {
      reply.failure = ModelFailure::kBadReply;
      reply.message = who + " printed nothing on standard output" + LastLines(end.err);
    } else if (LoopWatch().Add(reply.text)) {
      reply.failure = ModelFailure::kBadReply;
      reply.message = who + " printed the same lines without end" + LastLines(end.err);
    }
    return reply;
  }

  const ExecOptions options_;
  const std::vector<std::string> argv_;
};

}  // namespace

Result<std::vector<std::string>> SplitCommand(std::string_view command, std::string_view proposer) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    const bool escapes = c == '\\' && quote != '\'' && i + 1 < command.size() &&
                         (quote == 0 || command[i + 1] == '"' || command[i + 1] == '\\');
    if (escapes) {
      word += command[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) words.push_back(std::exchange(word, ""));
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0)
    return Error{ErrorKind::kUsage,
                 fmt::format("the command has a {} that is not closed: {}", quote, command)};
  if (in_word) words.push_back(word);
  if (words.empty() || words[0].empty())
    return Error{ErrorKind::kUsage,
                 fmt::format("{0}: names no program; write {0}:'program its arguments'", proposer)};
  return words;
}

Result<std::vector<std::string>> SplitProgram(std::string_view command, std::string_view proposer) {
  HONE_ASSIGN_OR_RETURN(std::vector<std::string> argv, SplitCommand(command, proposer));
  if (Contains(argv[0], "/") ? access(argv[0].c_str(), X_OK) != 0 : FindProgram(argv[0]).empty())
    return Error{ErrorKind::kNotFound,
                 fmt::format("{}: '{}' is not a program that can be run", proposer, argv[0])};
  return argv;
}

Result<std::unique_ptr<Model>> MakeExecModel(const ExecOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::vector<std::string> argv, SplitProgram(options.command));
  return std::unique_ptr<Model>(std::make_unique<ExecModel>(options, std::move(argv)));
}

}  // namespace hone
