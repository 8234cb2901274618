// Tests the order of interpreters and the error if none is suitable. Shell scripts stand in for interpreters.
// One case uses the real python3 with a torch that cannot be imported.
#include "process/python.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <map>
#include <optional>

#include "process/child.h"

namespace hone {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PythonTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"HONE_PYTHON", "VIRTUAL_ENV", "PATH", "HONE_DATA", "XDG_DATA_HOME", "PYTHONPATH"}) {
      const char* value = std::getenv(name);
      saved_[name] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
    }
    real_python_ = FindProgram("python3");
    unsetenv("HONE_PYTHON");
    unsetenv("VIRTUAL_ENV");
    unsetenv("PYTHONPATH");
    // Interpreters come from the test's folder, but the scripts need the shell's tools.
    fs::create_directories(Folder() / "path");
    setenv("PATH", ((Folder() / "path").string() + ":/bin").c_str(), 1);
    setenv("HONE_DATA", (Folder() / "data").c_str(), 1);
    setenv("XDG_DATA_HOME", (Folder() / "share").c_str(), 1);
    Script("path/python3", Answer("3.11.2", ""));
  }
  void TearDown() override {
    for (const auto& [name, value] : saved_) {
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    }
  }

  fs::path Folder() const { return folder_->path(); }
  fs::path Script(const std::string& name, const std::string& body) {
    const fs::path path = Folder() / name;
    fs::create_directories(path.parent_path());
    EXPECT_TRUE(WriteFileAtomic(path, "#!/bin/sh\n" + body + "\n", 0755).ok());
    return path;
  }
  static std::string Answer(const std::string& version, const std::string& torch) {
    return "echo 'a start-up hook says hello'; echo '{\"version\": \"" + version + "\", \"torch\": \"" +
           torch + "\", \"cuda\": \"13.0\", \"triton\": \"3.6.0\", \"read_paths\": [\"/usr\"]}'";
  }

  fs::path real_python_;

 private:
  Result<TempFolder> folder_ = TempFolder::Make("python_test");
  std::map<std::string, std::optional<std::string>> saved_;
};

TEST_F(PythonTest, ReadsWhatTheInterpreterSaysAboutItself) {
  const fs::path program = Script("python", Answer("3.12.1", "2.11.0+cu130"));
  const Result<PythonInfo> info = InspectPython(program);
  ASSERT_TRUE(info.ok()) << info.error().message;
  EXPECT_EQ(info->program, program);
  EXPECT_EQ(info->version, "3.12.1");
  EXPECT_EQ(info->torch_version, "2.11.0+cu130");
  EXPECT_EQ(info->torch_cuda, "13.0");
  EXPECT_EQ(info->triton_version, "3.6.0");
  EXPECT_THAT(info->read_paths, testing::Contains(fs::path("/usr")));
}

TEST_F(PythonTest, SaysInOneSentenceWhyAProgramWillNotDo) {
  const struct {
    const char* body;
    const char* says;
  } kCases[] = {
      {"echo oops >&2; exit 3", "oops"},
      {"exit 3", "exited with 3"},
      {"kill -9 $$", "signal 9"},
      {"echo hello", "did not answer as one"},
      {"echo '[1, 2]'", "did not answer as one"},
      {"echo '{\"version\": 3}'", "did not answer as one"},
      {"echo '{\"version\": \"2.7.18\"}'", "is Python 2.7.18; Hone needs 3.8"},
      {"echo '{\"version\": \"3.7.0\"}'", "is Python 3.7.0; Hone needs 3.8"},
  };
  for (const auto& [body, says] : kCases) {
    const Result<PythonInfo> info = InspectPython(Script("broken", body));
    ASSERT_FALSE(info.ok()) << body;
    EXPECT_EQ(info.error().kind, ErrorKind::kInvalid) << body;
    EXPECT_THAT(info.error().message, HasSubstr(says)) << body;
  }
  EXPECT_EQ(InspectPython(Folder() / "nothing").error().kind, ErrorKind::kNotFound);
}

TEST_F(PythonTest, TheOrderIsFlagVariableEnvironmentPathOwn) {
  const std::string with_torch = Answer("3.11.2", "2.0.0");
  Script("flag", with_torch);
  Script("named", with_torch);
  Script("env/bin/python3", with_torch);
  Script("path/python3", with_torch);
  Script("data/python/bin/python3", with_torch);
  setenv("HONE_PYTHON", (Folder() / "named").c_str(), 1);
  setenv("VIRTUAL_ENV", (Folder() / "env").c_str(), 1);

  const auto chosen = [](const std::string& flag) {
    const Result<PythonInfo> info = FindPython(flag);
    return info.ok() ? info->chosen_by : info.error().message;
  };
  EXPECT_EQ(chosen((Folder() / "flag").string()), "--python");
  EXPECT_EQ(chosen(""), "HONE_PYTHON");
  unsetenv("HONE_PYTHON");
  EXPECT_EQ(chosen(""), "VIRTUAL_ENV");
  Script("env/bin/python3", Answer("3.11.2", ""));
  EXPECT_EQ(chosen(""), "python3");
  Script("path/python3", "echo 'pyenv: python3: command not found' >&2; exit 127");
  EXPECT_EQ(chosen(""), "hone");
}

TEST_F(PythonTest, HoneDataDoesNotHideTheEnvironmentOfTheDefaultFolder) {
  const fs::path shared = Script("share/hone/python/bin/python3", Answer("3.11.2", "2.0.0"));
  const Result<PythonInfo> by_default = FindPython("");
  ASSERT_TRUE(by_default.ok()) << by_default.error().message;
  EXPECT_EQ(by_default->program, shared);
  EXPECT_EQ(by_default->chosen_by, "hone");
  const fs::path nearer = Script("data/python/bin/python3", Answer("3.11.2", "2.1.0"));
  const Result<PythonInfo> by_setting = FindPython("");
  ASSERT_TRUE(by_setting.ok()) << by_setting.error().message;
  EXPECT_EQ(by_setting->program, nearer);
}

TEST_F(PythonTest, TheUsersWordIsNeverOverruled) {
  Script("data/python/bin/python3", Answer("3.11.2", "2.0.0"));
  const Result<PythonInfo> flag = FindPython(Script("bare", Answer("3.11.2", "")).string());
  ASSERT_FALSE(flag.ok());
  EXPECT_EQ(flag.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(flag.error().message, HasSubstr("has no torch"));
  setenv("HONE_PYTHON", "/no/such/python", 1);
  const Result<PythonInfo> named = FindPython("");
  ASSERT_FALSE(named.ok());
  EXPECT_THAT(named.error().message, HasSubstr("HONE_PYTHON: no Python interpreter at /no/such/python"));
}

TEST_F(PythonTest, WithoutTorchAnywhereTheErrorSaysWhereItLookedAndWhatToDo) {
  const Result<PythonInfo> info = FindPython("");
  ASSERT_FALSE(info.ok());
  EXPECT_EQ(info.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(info.error().message, HasSubstr("python3 is Python 3.11.2 without torch"));
  EXPECT_THAT(info.error().message, HasSubstr("Hone's own environment"));
  EXPECT_THAT(info.error().message, HasSubstr("--python"));
}

TEST_F(PythonTest, TheRealProbeSeesThroughAShimAndNeverImportsTorch) {
  if (real_python_.empty()) GTEST_SKIP() << "no python3 on this machine";
  ChildSpec spec;
  spec.argv = {real_python_.string(), "-m", "venv", "--without-pip", (Folder() / "env").string()};
  spec.env = CurrentEnvironment();
  const Result<ExitReport> made = RunProgram(spec, Deadline::After(60));
  ASSERT_TRUE(made.ok());
  if (made->code != 0) GTEST_SKIP() << "python3 -m venv does not work here: " << made->err;
  fs::path site;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(Folder() / "env" / "lib")) {
    if (entry.path().filename() == "site-packages") site = entry.path();
  }
  ASSERT_FALSE(site.empty());
  const fs::path shim = Script("shim", "exec '" + (Folder() / "env/bin/python3").string() + "' \"$@\"");

  const Result<PythonInfo> bare = InspectPython(shim);
  ASSERT_TRUE(bare.ok()) << bare.error().message;
  EXPECT_EQ(bare->torch_version, "");
  EXPECT_EQ(bare->program, Folder() / "env/bin/python3");

  const auto plant = [](const fs::path& folder) {
    fs::create_directories(folder / "torch");
    ASSERT_TRUE(WriteFileAtomic(folder / "torch/__init__.py", "raise SystemExit('imported')\n").ok());
    ASSERT_TRUE(WriteFileAtomic(folder / "torch/version.py",
                                "__version__ = '2.9.1+cu128'\ncuda: Optional[str] = '12.8'\nhip = None\n")
                    .ok());
  };
  plant(Folder() / "elsewhere");
  setenv("PYTHONPATH", (Folder() / "elsewhere").c_str(), 1);
  const Result<PythonInfo> hidden = InspectPython(shim);
  ASSERT_TRUE(hidden.ok()) << hidden.error().message;
  EXPECT_EQ(hidden->torch_version, "2.9.1+cu128");
  EXPECT_THAT(hidden->extra_paths, testing::Contains(Folder() / "elsewhere"));
  EXPECT_THAT(hidden->read_paths, testing::Contains(Folder() / "elsewhere"));

  plant(site);
  const Result<PythonInfo> full = InspectPython(Folder() / "env");
  ASSERT_TRUE(full.ok()) << full.error().message;
  EXPECT_EQ(full->torch_version, "2.9.1+cu128");
  EXPECT_EQ(full->torch_cuda, "12.8");
  EXPECT_THAT(full->extra_paths, IsEmpty());
  EXPECT_THAT(full->read_paths, testing::Contains(site));
}

}  // namespace
}  // namespace hone
