// Feeds arbitrary bytes to all of `hone lint`: both parsers, the interpreter, every check, every report and
// the fixes. The first byte selects the language, whether there is a task, and whether SARIF is written. With
// clang and -DHONE_FUZZ=ON this is a libFuzzer target. Otherwise it replays the files given to it, which is
// an ordinary test.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/lint.h"
#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  hone::LintOptions options;
  if ((data[0] & 4) != 0) options.task_text = text;
  const hone::LintReport report = hone::LintSource((data[0] & 1) != 0 ? "fuzz.cu" : "fuzz.py", text, options);
  hone::DumpJson(hone::ToJson(report));
  if ((data[0] & 8) != 0) hone::DumpJson(hone::ToSarif({report}));
  hone::ToText(report, text, true);
  hone::ApplyEdits(text, report.findings, nullptr);
  return 0;
}

#ifndef HONE_FUZZING
#include <cstdio>

#include "base/files.h"

int main(int argc, char** argv) {
  int count = 0;
  for (int i = 1; i < argc; ++i) {
    std::error_code code;
    for (const auto& entry : hone::fs::recursive_directory_iterator(argv[i], code)) {
      if (!entry.is_regular_file()) continue;
      const hone::Result<std::string> content = hone::ReadFile(entry.path());
      if (!content.ok()) return 1;
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(content.value().data()),
                             content.value().size());
      ++count;
    }
  }
  std::printf("%d inputs\n", count);
  return count > 0 ? 0 : 1;
}
#endif
