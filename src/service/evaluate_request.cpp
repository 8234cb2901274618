#include "service/evaluate_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/ids.h"
#include "base/text.h"
#include "model/code_block.h"

namespace hone {

namespace {

constexpr size_t kDeepest = 8;
const std::vector<std::string> kMembers = {"task", "task_source", "candidate", "reply", "options", "again"};

Error Mistake(std::string sentence) {
  return Error{ErrorKind::kUsage, std::move(sentence)};
}

// Checks the nesting of brackets outside of strings before the parser allocates anything.
bool IsDeeperThan(const std::string& text, size_t most) {
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > most) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

Result<std::string> TextMember(const Json& body, const char* name) {
  const Json& member = GetMember(body, name);
  if (member.is_null()) return std::string();
  if (!member.is_string()) return Mistake(fmt::format("{} must be a string", name));
  if (member.str().find('\0') != std::string::npos)
    return Mistake(fmt::format("{} holds a NUL character", name));
  return member.str();
}

bool IsSafeName(const std::string& name) {
  if (name.empty() || name.size() > 200) return false;
  for (const std::string& part : Split(name, '/'))
    if (part.empty() || part[0] == '.' || !std::all_of(part.begin(), part.end(), [](char c) {
          return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
        }))
      return false;
  return true;
}

}  // namespace

Result<EvaluateRequest> ParseEvaluateRequest(const std::string& body) {
  if (IsDeeperThan(body, kDeepest)) return Mistake("the body is nested too deeply");
  const Result<Json> json = ParseJson(body);
  if (!json.ok()) return Mistake("the body is not valid JSON");
  if (!json->is_object()) return Mistake("the body must be a JSON object");
  for (const std::string& key : json->keys()) {
    if (std::find(kMembers.begin(), kMembers.end(), key) != kMembers.end()) continue;
    const std::string close = ClosestWord(key, kMembers);
    return Mistake(fmt::format("{} is not known{}", DumpJson(Json(key.substr(0, 60))),
                               close.empty() ? "" : "; did you mean " + close + "?"));
  }
  EvaluateRequest request;
  HONE_ASSIGN_OR_RETURN(request.task, TextMember(*json, "task"));
  HONE_ASSIGN_OR_RETURN(request.task_source, TextMember(*json, "task_source"));
  HONE_ASSIGN_OR_RETURN(request.candidate, TextMember(*json, "candidate"));
  HONE_ASSIGN_OR_RETURN(const std::string reply, TextMember(*json, "reply"));
  if (request.task.empty() == request.task_source.empty())
    return Mistake("give either task (a name) or task_source (its text)");
  const bool has_candidate = !GetMember(*json, "candidate").is_null();
  const bool has_reply = !GetMember(*json, "reply").is_null();
  if (has_candidate == has_reply)
    return Mistake("give either candidate (source) or reply (what a language model wrote)");
  if (has_reply) request.candidate = ExtractCandidate(reply).value_or("");
  if (Trim(request.candidate).empty()) request.candidate.clear();
  request.options = GetMember(*json, "options");
  const Json& again = GetMember(*json, "again");
  if (!again.is_null() && !again.is_boolean()) return Mistake("again must be true or false");
  request.again = again.is_boolean() && again.get<bool>();
  return request;
}

Result<TaskFile> FindTask(const std::vector<fs::path>& folders, const std::string& name) {
  if (!IsSafeName(name)) return Mistake("task must be a name such as 39_GRU or level3/39_GRU");
  std::error_code code;
  for (const fs::path& folder : folders) {
    const fs::path root = fs::canonical(folder, code);
    if (code) continue;
    const fs::path file = fs::canonical(root / (name + ".py"), code);
    if (code || !fs::is_regular_file(file, code)) continue;
    // A link may lead outside the folder.
    if (!StartsWith(file.string(), root.string() + "/")) continue;
    HONE_ASSIGN_OR_RETURN(TaskFile task, LoadTaskFile(file));
    return task;
  }
  return Error{ErrorKind::kNotFound, fmt::format("there is no task {} on this server", name)};
}

TaskFile TaskOfSource(const std::string& source) {
  TaskFile task;
  task.source = source;
  task.sha256 = Sha256(source);
  task.name = "task_" + task.sha256.substr(0, 12);
  return task;
}

}  // namespace hone
