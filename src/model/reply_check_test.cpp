#include "model/reply_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace hone {
namespace {

constexpr const char* kWholeFile =
    "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n";

std::string InFence(const std::string& text, const std::string& language = "python") {
  return "```" + language + "\n" + text + "```\n";
}

TEST(ReadReply, TellsApartWhatIsWrong) {
  using F = ReplyFault;
  struct Row {
    const char* name;
    std::string reply;
    const char* finish;
    ReplyFault fault;
    const char* told;  // message to the model
  };
  const Row rows[] = {
      {"fine", "Here it is.\n" + InFence(kWholeFile), "stop", F::kNone, ""},
      {"fine though cut off after it", InFence(kWholeFile) + "Some words about i", "length", F::kNone, ""},
      {"sorry, but with a file", "I'm sorry for the last one.\n" + InFence(kWholeFile), "stop", F::kNone, ""},
      {"empty", "", "stop", F::kProse, "held no Python file"},
      {"prose", "One would fuse the two kernels.", "stop", F::kProse, "held no Python file"},
      {"cut off", "```python\nimport torch\n\n\nclass Model", "length", F::kCutOff, "cut off"},
      {"declines", "I'm sorry, but I can't help with that.", "stop", F::kDeclined, "performance work"},
      {"declines, curled", "I can\xE2\x80\x99t assist with this request.", "stop", F::kDeclined,
       "performance work"},
      {"CUDA alone", InFence("__global__ void f() {}\n", "cuda"), "stop", F::kOtherLanguage,
       "not a Python file"},
      {"C++ module", InFence("#include <torch/torch.h>\nstruct ModelNew : torch::nn::Module {};\n", "cpp"),
       "stop", F::kOtherLanguage, "not a Python file"},
      {"several files",
       "kernels.py:\n" + InFence("import triton\n") + "model.py:\n" +
           InFence("from kernels import go\n" + std::string(kWholeFile)),
       "stop", F::kSeveralFiles, "imports kernels.py"},
      {"a file whose name is said", "Save it as model.py.\n" + InFence(kWholeFile), "stop", F::kNone, ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const ReplyReading reading = ReadReply(row.reply, row.finish);
    EXPECT_EQ(reading.fault, row.fault);
    EXPECT_TRUE(Contains(reading.send_back, row.told)) << reading.send_back;
    EXPECT_EQ(reading.send_back.empty(), row.fault == F::kNone);
    EXPECT_EQ(reading.file.has_value(), row.fault == F::kNone || row.fault == F::kSeveralFiles);
  }
}

TEST(ReadReply, HalfAFileIsKeptAndAskedForAgain) {
  const std::string half = std::string(kWholeFile) + "        y = torch.softmax(x, dim=";
  const auto read = [](const std::string& reply, const char* finish) { return ReadReply(reply, finish); };
  for (const std::string& reply : {"```python\n" + half, "Here.\n```python\n" + half + "\n\n",
                                   ReplaceAll("```python\n" + half, "\n", "\r\n")}) {
    const ReplyReading reading = read(reply, "stop");
    EXPECT_EQ(reading.fault, ReplyFault::kCutOff) << reply;
    EXPECT_TRUE(Contains(reading.send_back, "ended before the Python file was complete"))
        << reading.send_back;
    EXPECT_TRUE(reading.file.has_value()) << "it is still one, if no other comes";
    EXPECT_TRUE(Contains(read(reply, "length").send_back, "Answer with a shorter one"));
  }
  EXPECT_EQ(read(InFence(half + "\n"), "stop").fault, ReplyFault::kNone)
      << "a mistake, which the judge names";
  EXPECT_EQ(read("```python\n" + std::string(kWholeFile), "stop").fault, ReplyFault::kNone)
      << "whole, and its fence was forgotten";
}

bool Loops(const std::string& text, size_t piece) {
  LoopWatch watch;
  for (size_t at = 0; at < text.size(); at += piece)
    if (watch.Add(std::string_view(text).substr(at, piece))) return true;
  return false;
}

TEST(LoopWatch, NoticesWhatRepeatsItself) {
  std::string line, blank = "start\n", two, code;
  while (line.size() < 20'000) line += "    acc = acc + tl.dot(a, b)\n";
  while (blank.size() < 20'000) blank += ' ';
  while (two.size() < 20'000) two += "the first line of two\nand the second one, which is longer\n";
  for (int i = 0; code.size() < 100'000; ++i)
    code += fmt::format("    acc{0} = acc{0} + a[{0}] * b[{1}]\n", i, i + 1);
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{5000}, size_t{30'000}}) {
    EXPECT_TRUE(Loops(line, piece)) << piece;
    EXPECT_TRUE(Loops(blank, piece)) << piece;
    EXPECT_TRUE(Loops(two, piece)) << piece;
    EXPECT_FALSE(Loops(code, piece)) << piece;
    EXPECT_FALSE(Loops(line.substr(0, 4000), piece)) << "a few equal lines are none";
  }
}

}  // namespace
}  // namespace hone
