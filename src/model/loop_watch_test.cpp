#include "model/loop_watch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/files.h"
#include "base/text.h"

namespace hone {
namespace {

bool SeesALoop(const std::string& text, size_t piece) {
  LoopWatch watch;
  for (size_t at = 0; at < text.size(); at += piece)
    if (watch.Add(std::string_view(text).substr(at, piece))) return true;
  return false;
}

// `make(i)` for i = 0, 1, ... until there are that many bytes.
template <class Make>
std::string Repeated(size_t bytes, const Make& make) {
  std::string text = "Here is the file.\n";
  for (int i = 0; text.size() < bytes; ++i) text += make(i);
  return text;
}

// Lines of code that differ from each other.
std::string Passage(size_t bytes) {
  return Repeated(bytes, [](int i) {
    return fmt::format("    {}_{} = tl.load({}_ptr + offsets)\n", static_cast<char>('a' + i % 26),
                       static_cast<char>('a' + i / 26), static_cast<char>('a' + (7 * i + i / 26) % 26));
  });
}

std::string Function(int number, size_t bytes) {
  return fmt::format("def stage_{0}(x_{0}):\n{1}    return x_{0} + {0}\n\n\n", number, Passage(bytes));
}

TEST(LoopWatch, NoticesTheSameTextAgainAndAgain) {
  const struct {
    const char* name;
    std::string unit;
  } kRows[] = {
      {"a line", "    acc = acc + tl.dot(a, b)\n"},
      {"blanks", " "},
      {"two lines", "the first line of two\nand the second one, which is longer\n"},
      {"a paragraph", Passage(700)},
      {"a function", Function(1, 2500)},
      {"a long function", Function(1, 9000)},
      {"a whole file", Passage(15'000)},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.name);
    const std::string text = Repeated(60'000, [&](int) { return row.unit; });
    for (const size_t piece : {size_t{1}, size_t{7}, size_t{5000}, text.size()}) {
      EXPECT_TRUE(SeesALoop(text, piece)) << piece;
      EXPECT_FALSE(SeesALoop(text.substr(0, 4000), piece)) << "a few equal lines are none";
      EXPECT_FALSE(SeesALoop("start\n" + row.unit + row.unit + Passage(3000), piece)) << "twice is not often";
    }
  }
}

TEST(LoopWatch, NoticesTextThatCountsWithoutEnd) {
  const struct {
    const char* name;
    std::string text;
  } kRows[] = {
      {"lines with a counter",
       Repeated(100'000,
                [](int i) { return fmt::format("    acc{0} = acc{0} + a[{0}] * b[{1}]\n", i, i + 1); })},
      {"a counter that starts again",
       Repeated(100'000, [](int i) { return fmt::format("    acc{} = acc{} + a[{}]\n", i / 8, i % 8, i); })},
      {"one line", Repeated(100'000, [](int i) { return fmt::format("x{} + ", i); })},
      {"functions with a number", Repeated(200'000, [](int i) { return Function(i, 1500); })},
      {"long functions with a number", Repeated(200'000, [](int i) { return Function(i, 3500); })},
      {"paragraphs with a number",
       Repeated(100'000,
                [](int i) { return fmt::format("Attempt {}: let me think again.\n{}", i, Passage(600)); })},
      {"after a table",
       Repeated(50'000, [](int i) { return fmt::format("    {:.8f},\n", std::sin(0.001 * i)); }) +
           Repeated(80'000, [](int i) { return fmt::format("    y[{}] = x[{}]\n", i, i); })},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.name);
    for (const size_t piece : {size_t{1}, size_t{1000}, row.text.size()})
      EXPECT_TRUE(SeesALoop(row.text, piece)) << piece;
  }
}

TEST(LoopWatch, CutsNoHonestReply) {
  uint32_t state = 1;
  const auto random = [&](uint32_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
  };
  const struct {
    const char* name;
    std::string text;
  } kRows[] = {
      {"200 unrolled lines",
       Repeated(200 * 90,
                [](int i) {
                  return fmt::format(
                      "    acc{0} = fmaf(a_shared[row][{0}], b_shared[{0}][column + {1}], acc{0});\n", i,
                      4 * i);
                })},
      {"400 unrolled lines", Repeated(30'000,
                                      [](int i) {
                                        return fmt::format(
                                            "    acc{0} = fmaf(a_shared[row][{0}], b_{0}, acc{0});\n", i);
                                      })},
      {"a table of sines",
       Repeated(200'000, [](int i) { return fmt::format("    {:.8f}f,\n", std::sin(0.001 * i)); })},
      {"a table of bytes", Repeated(200'000, [&](int) { return fmt::format("{}, ", random(256)); })},
      {"a table of rows",
       Repeated(200'000,
                [&](int i) { return fmt::format("    {{{}, {}, {}}},\n", i, random(1000), random(1000)); })},
      {"a table of hexadecimal words",
       Repeated(200'000, [&](int) { return fmt::format("0x{:08x}u, ", random(1u << 24)); })},
      {"twelve similar functions", Repeated(12 * 3000, [](int i) { return Function(i, 2800); })},
      {"a long source", Repeated(200'000,
                                 [](int i) {
                                   return fmt::format("{}def stage{}(x):\n    return {}\n\n\n",
                                                      Passage(200 + 37 * static_cast<size_t>(i % 50)), i,
                                                      static_cast<char>('a' + i % 26));
                                 })},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.name);
    for (const size_t piece : {size_t{3}, row.text.size()}) EXPECT_FALSE(SeesALoop(row.text, piece)) << piece;
  }
}

TEST(LoopWatch, CallsNoFileOfTheRepositoryALoop) {
  int files = 0;
  for (const char* folder : {"tests/golden/corpus/files", "tests/adversarial", "tasks", "src/codegen",
                             "src/model", "worker", "python", "docs"}) {
    std::error_code none;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(HONE_SOURCE_DIR) / folder, none)) {
      if (!entry.is_regular_file(none)) continue;
      const Result<std::string> text = ReadFile(entry.path(), 4u << 20);
      if (!text.ok()) continue;
      ++files;
      EXPECT_FALSE(SeesALoop(*text, text->size())) << entry.path();
    }
  }
  EXPECT_GT(files, 800);
}

}  // namespace
}  // namespace hone
