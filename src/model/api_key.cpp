#include "model/api_key.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>

#include "base/text.h"

namespace hone {

namespace {

struct Vendor {
  const char* host;
  const char* variable;
};

constexpr Vendor kVendors[] = {
    {"openai.com", "OPENAI_API_KEY"},
    {"anthropic.com", "ANTHROPIC_API_KEY"},
    {"deepseek.com", "DEEPSEEK_API_KEY"},
    {"openrouter.ai", "OPENROUTER_API_KEY"},
    {"together.xyz", "TOGETHER_API_KEY"},
    {"groq.com", "GROQ_API_KEY"},
    {"mistral.ai", "MISTRAL_API_KEY"},
    {"googleapis.com", "GEMINI_API_KEY"},
    {"x.ai", "XAI_API_KEY"},
    {"moonshot.ai", "MOONSHOT_API_KEY"},
    {"aliyuncs.com", "DASHSCOPE_API_KEY"},
    {"fireworks.ai", "FIREWORKS_API_KEY"},
};

const char* VendorVariable(const std::string& host) {
  for (const Vendor& vendor : kVendors) {
    if (host == vendor.host || EndsWith(host, std::string(".") + vendor.host)) return vendor.variable;
  }
  return nullptr;
}

std::string FromEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : std::string(Trim(value));
}

Result<ApiKey> Checked(ApiKey key) {
  for (const char c : key.value) {
    if (c <= 0x20 || c >= 0x7f)
      return Error{ErrorKind::kUsage,
                   fmt::format("the key in {} has a blank, a line break or a character outside "
                               "ASCII; it must be the key and nothing else",
                               key.source)};
  }
  return key;
}

Result<ApiKey> FromFile(const fs::path& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) return ErrnoError("cannot read the key file " + file.string());
  if (!S_ISREG(info.st_mode))
    return Error{ErrorKind::kUsage, "the key file " + file.string() + " is not a plain file"};
  if ((info.st_mode & 077) != 0)
    return Error{ErrorKind::kUsage,
                 fmt::format("the key file {0} can be read by others; run: chmod 600 {0}", file.string())};
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, 64 * 1024));
  const std::string value(Trim(text));
  if (value.empty()) return Error{ErrorKind::kUsage, "the key file " + file.string() + " is empty"};
  return Checked({value, "--api-key-file " + file.string()});
}

}  // namespace

Result<ApiKey> FindApiKey(const Url& url, bool anthropic, const std::string& variable, const fs::path& file) {
  if (!file.empty()) return FromFile(file);
  if (!variable.empty()) {
    const std::string value = FromEnvironment(variable);
    if (value.empty())
      return Error{ErrorKind::kUsage, fmt::format("the environment variable {} holds no key", variable)};
    return Checked({value, variable});
  }
  if (const char* name = VendorVariable(url.host); name != nullptr) {
    const std::string value = FromEnvironment(name);
    if (value.empty())
      return Error{
          ErrorKind::kUsage,
          fmt::format("{} wants a key: set the environment variable {}, or keep it in a file that only "
                      "you can read and give --api-key-file FILE",
                      url.host, name)};
    if (!url.tls)
      return Error{ErrorKind::kUsage,
                   fmt::format("the key in {} is not sent to {} without TLS; use https://", name, url.host)};
    return Checked({value, name});
  }
  const std::string usual = anthropic ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY";
  if (url.tls || IsLoopback(url.host)) {
    for (const std::string& name : {std::string("HONE_API_KEY"), usual}) {
      const std::string value = FromEnvironment(name);
      if (!value.empty()) return Checked({value, name});
    }
  }
  return ApiKey{};
}

std::string WithoutKey(std::string text, const std::string& key) {
  constexpr size_t kPiece = 8;
  constexpr size_t kShortest = 4;
  if (key.size() < kShortest) return text;
  if (key.size() < kPiece) return ReplaceAll(std::move(text), key, "[key]");
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t matched = 0;
    if (i + kPiece <= text.size()) {
      for (size_t at = key.find(std::string_view(text).substr(i, kPiece)); at != std::string::npos;
           at = key.find(std::string_view(text).substr(i, kPiece), at + 1)) {
        size_t length = kPiece;
        while (i + length < text.size() && at + length < key.size() && text[i + length] == key[at + length])
          ++length;
        matched = std::max(matched, length);
      }
    }
    if (matched == 0) {
      out += text[i++];
    } else {
      out += "[key]";
      i += matched;
    }
  }
  return out;
}

std::string ReplyWithoutKey(std::string text, const std::string& key) {
  constexpr size_t kShortest = 12;
  return key.size() < kShortest ? text : ReplaceAll(std::move(text), key, "[key]");
}

}  // namespace hone
