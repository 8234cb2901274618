#include "model/reply_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>

#include "base/files.h"
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

std::string With(const std::string& code) {
  return InFence("import torch\n" + code + kWholeFile);
}

TEST(ReadReply, AFileThatNeedsAnotherIsAskedForInOne) {
  const std::string kernel = "`kernel.cu`:\n" + InFence("__global__ void f(float* x) { *x = 0; }\n", "cuda");
  const std::string unnamed = "The kernel:\n" + InFence("__global__ void f() {}\n", "cpp");
  const std::string header = "tiles.cuh\n" + InFence("#define TILE 64\n", "cuda");
  const std::string module = "**kernels.py**\n" + InFence("def go(x):\n    return x\n");
  const std::string here = "import os\nHERE = os.path.dirname(__file__)\n";
  struct Row {
    std::string reply;
    const char* needs;  // empty: it is one good file
  };
  const Row rows[] = {
      {kernel +
           With("from torch.utils.cpp_extension import load\nm = load(name='m', sources=['kernel.cu'])\n"),
       "reads kernel.cu"},
      {kernel + With(here + "m = load('m', [os.path.join(HERE, 'kernel.cu')], verbose=True)\n"),
       "reads kernel.cu"},
      {kernel + With(here + "m = load(name='m', sources=[f'{HERE}/kernel.cu'])\n"), "reads kernel.cu"},
      {kernel + With("SOURCE = 'kernel.cu'\n\n\ndef build():\n    return compile_it(SOURCE)\n"),
       "reads kernel.cu"},
      {kernel + With("with open('csrc/kernel.cu') as f:\n    text = f.read()\n"), "reads kernel.cu"},
      {ReplaceAll(kernel + With("text = open('kernel.cu').read()\n"), "\n", "\r\n"), "reads kernel.cu"},
      {unnamed + With("import pathlib\nSRC = pathlib.Path(__file__).parent / 'kernel.cu'\n"
                      "m = load('m', [str(SRC)])\n"),
       "reads kernel.cu"},
      {unnamed + With("import pathlib\ntext = pathlib.Path(__file__).with_name('kernel.cu').read_text()\n"),
       "reads kernel.cu"},
      {With("m = load(name='m', sources=['binding.cpp', 'kernel.cu'])\n"), "reads binding.cpp"},
      {header + With("SOURCE = r'''\n#include <cuda.h>\n#include \"tiles.cuh\"\n'''\n"),
       "includes tiles.cuh"},
      {module + With("import kernels\n"), "imports kernels.py"},
      {module + With("from .kernels import go\n"), "imports kernels.py"},
      {module + With("from . import kernels as k\n"), "imports kernels.py"},
      {module + With("def late():\n    from kernels import go\n    return go\n"), "imports kernels.py"},
      {module + With("import importlib\nk = importlib.import_module('kernels')\n"), "imports kernels.py"},
      {module + With("import runpy\nk = runpy.run_path('kernels.py')\n"), "reads kernels.py"},

      {"It was in kernel.cu and is a string now.\n" + With("SOURCE = '__global__ void f() {}'\n"), ""},
      {kernel + With("'''Replaces kernel.cu.'''\n# kernel.cu\nSOURCE = '__global__ void f() {}'\n"), ""},
      {kernel + With("p = os.path.join(tmp, 'kernel.cu')\nwith open(p, 'w') as f:\n    f.write(TEXT)\n"
                     "m = load(name='m', sources=[p])\n"),
       ""},
      {kernel + With("p = pathlib.Path(tmp, 'kernel.cu')\np.write_text(TEXT)\n"
                     "m = load(name='m', sources=[str(p)])\n"),
       ""},
      {With("text = open('/proc/cpuinfo').read()\nx = ctypes.CDLL('libcudart.so')\n"), ""},
      {With(
           "m = load_inline(name='m', cpp_sources='int f();', cuda_sources='#include \"cuda_fp16.h\"\\n')\n"),
       ""},
      {"It needs cuda_fp16.h.\n" + With("SOURCE = '#include \"cuda_fp16.h\"\\n'\n"), ""},
      {"Save it as model.py and run python model.py.\n" +
           With("if __name__ == '__main__':\n    print('model.py')\n"),
       ""},
      {InFence("pip install triton\n", "sh") + With("import triton\n"), ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.reply);
    const ReplyReading reading = ReadReply(row.reply, "stop");
    ASSERT_TRUE(reading.file.has_value());
    if (*row.needs == '\0') {
      EXPECT_EQ(reading.fault, ReplyFault::kNone) << reading.send_back;
      continue;
    }
    EXPECT_EQ(reading.fault, ReplyFault::kSeveralFiles);
    EXPECT_TRUE(
        Contains(reading.send_back, fmt::format("the one with ModelNew {}. Only one file", row.needs)))
        << reading.send_back;
  }
}

TEST(ReadReply, NoFileOfTheRepositoryNeedsAnother) {
  int files = 0;
  for (const char* folder : {"tests/golden/corpus/files", "tests/adversarial"}) {
    std::error_code none;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(HONE_SOURCE_DIR) / folder, none)) {
      const Result<std::string> text =
          entry.path().extension() == ".py" ? ReadFile(entry.path()) : Result<std::string>(std::string());
      if (!text.ok() || !Contains(*text, "class ModelNew")) continue;
      ++files;
      const std::string words =
          "The kernel was in kernel.cu.\n" + InFence("__global__ void f() {}\n", "cuda");
      EXPECT_NE(ReadReply(words + InFence(*text), "stop").fault, ReplyFault::kSeveralFiles) << entry.path();
    }
  }
  EXPECT_GT(files, 500);
}

TEST(ReadReply, AHostileFileIsReadInAMoment) {
  std::string names, texts;
  for (int i = 0; i < 5000; ++i) names += fmt::format("v{} = v{} + 'k{}.cu'\n", i, i + 1, i);
  for (int i = 0; i < 3000; ++i) texts += fmt::format("t{} = '#include \"k{}.cuh\"'\n", i, i);
  const clock_t begin = clock();
  EXPECT_TRUE(ReadReply(With(names), "stop").file.has_value());
  EXPECT_TRUE(ReadReply(With(texts), "stop").file.has_value());
  EXPECT_LT(static_cast<double>(clock() - begin) / CLOCKS_PER_SEC, 20);
}

}  // namespace
}  // namespace hone
