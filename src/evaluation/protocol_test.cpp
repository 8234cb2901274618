#include "evaluation/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/embedded.h"
#include "evaluation/run_messages.h"
#include "evaluation/setup_messages.h"
#include "evaluation/timing_messages.h"

namespace hone {

std::span<const EmbeddedFile> EmbeddedFiles_hone_evaluation();

namespace {

using testing::HasSubstr;

// Reads one assignment in the embedded worker/hone_protocol.py. It ends at a bracket in the first column, or
// at the end of its line.
Json PythonTable(const std::string& name) {
  for (const EmbeddedFile& file : EmbeddedFiles_hone_evaluation()) {
    if (file.name != "hone_protocol.py") continue;
    const std::string text(file.content);
    const size_t at = text.find("\n" + name + " = ");
    if (at == std::string::npos) break;
    const size_t begin = at + name.size() + 4;
    const size_t line = text.find('\n', begin);
    const bool whole = text[line - 1] == '}' || text[line - 1] == ']';
    const size_t end = whole ? line : text.find("\n}\n", begin) + 2;
    Result<Json> table = ParseJson(text.substr(begin, end - begin));
    EXPECT_TRUE(table.ok()) << name << " is not JSON";
    return table.ok() ? std::move(*table) : Json();
  }
  ADD_FAILURE() << "worker/hone_protocol.py has no " << name;
  return Json();
}

TEST(Protocol, TheTableOfTheWorkerSaysTheSame) {
  Json theirs = PythonTable("WORKER");
  theirs.update(PythonTable("CLOCK"));
  theirs.update(PythonTable("ZYGOTE"));
  const Json ours = DescribeProtocol();
  EXPECT_EQ(ours.keys(), theirs.keys());
  for (const auto& [verb, messages] : ours.items()) {
    EXPECT_EQ(messages[0], GetMember(theirs, verb)[0]) << "request of " << verb;
    EXPECT_EQ(messages[1], GetMember(theirs, verb)[1]) << "reply of " << verb;
  }
  EXPECT_EQ(DescribeFields(ReplyHeader::Fields()), PythonTable("HEADER"));
  EXPECT_EQ(DescribeFields(ErrorReply::Fields()), PythonTable("ERROR"));
  Json steps = Json::array();
  for (const ContractStep step : AllContractSteps()) steps.push_back(NameOf(step));
  EXPECT_EQ(steps, PythonTable("STEPS"));
}

TEST(Protocol, ARequestCarriesItsVerbAndWhatIsNotEmpty) {
  EXPECT_EQ(EncodeRequest(RunRequest{"default", "default#1", 7}),
            (Json{{"verb", "run"}, {"slot", "default"}, {"inputs", "default#1"}, {"seed", 7}}));
  RunRequest busy{"default", "default#1", 7};
  busy.busy = true;
  busy.output_bytes = {4, 8};
  EXPECT_EQ(EncodeRequest(busy), (Json{{"verb", "run"},
                                       {"slot", "default"},
                                       {"inputs", "default#1"},
                                       {"seed", 7},
                                       {"busy", true},
                                       {"output_bytes", {4, 8}}}));
  EXPECT_EQ(EncodeRequest(LoadRequest{"/t.py", "task", "Model"}).at("class"), "Model");
}

// "No parameters" differs from "the parameters of the module".
TEST(Protocol, AnEmptyListOfNamesIsNotNoList) {
  ContractRequest request{ContractStep::kGradients};
  EXPECT_FALSE(EncodeRequest(request).contains("names"));
  request.names = std::vector<std::string>();
  EXPECT_EQ(EncodeRequest(request).at("names"), Json::array());
  EXPECT_EQ(EncodeRequest(request).at("step"), "gradients");
}

TEST(Protocol, EveryRequestIsReadAsItWasWritten) {
  BlockRequest sent;
  sent.bytes = 4096;
  sent.on_device = true;
  sent.bases = {0, 64};
  sent.calls = 2;
  sent.rung = "eager";
  sent.mode = "run";
  sent.seed = (uint64_t{1} << 52) - 1;
  sent.flush = 5;
  sent.trees = {Json{{"kind", "value"}, {"value", 3}}};
  BlockRequest got;
  ASSERT_TRUE(Decode(*ParseJson(DumpJson(Encode(sent))), &got).ok());
  EXPECT_EQ(Encode(got), Encode(sent));
  EXPECT_EQ(got.seed, sent.seed);
}

struct Forged {
  const char* body;
  const char* problem;
};

template <class Reply>
void ExpectRefused(const std::vector<Forged>& forgeries) {
  for (const Forged& forged : forgeries) {
    Reply reply;
    const Status read = Decode(*ParseJson(forged.body), &reply);
    ASSERT_FALSE(read.ok()) << forged.body;
    EXPECT_EQ(read.error().kind, ErrorKind::kInvalid);
    EXPECT_THAT(read.error().message, HasSubstr(forged.problem)) << forged.body;
  }
}

TEST(Protocol, AForgedReplyIsRefusedByTheMemberThatIsWrong) {
  ExpectRefused<ReplyHeader>({{"{}", "has no member 'ok'"},
                              {R"({"ok": null})", "has no member 'ok'"},
                              {R"({"ok": "yes"})", "'ok' that is no bool"},
                              {R"({"ok": 1})", "'ok' that is no bool"}});
  ExpectRefused<RunReply>({{"{}", "has no member 'tree'"}, {R"({"tree": null})", "has no member 'tree'"}});
  ExpectRefused<TakeWeightsReply>(
      {{R"({"how": "state_dict", "missing": [], "unexpected": 5})", "'unexpected' that is no strings"},
       {R"({"how": "state_dict", "missing": ["a", 5], "unexpected": []})", "'missing' that is no strings"},
       {R"({"how": ["state_dict"], "missing": [], "unexpected": []})", "'how' that is no string"},
       {R"({"how": "state_dict", "missing": []})", "has no member 'unexpected'"}});
  ExpectRefused<TamperingReply>({{R"({"changed": {"a": "b"}})", "'changed' that is no strings"}});
  ExpectRefused<LoadReply>({{R"({"has_class": "true"})", "'has_class' that is no bool"}});
  ExpectRefused<DrawReply>({{R"({"bases": [-1]})", "'bases' that is no counts"},
                            {R"({"bases": [1.5]})", "'bases' that is no counts"},
                            {R"({"bases": [18446744073709551615]})", "'bases' that is no counts"},
                            {R"({"bases": [1e300]})", "'bases' that is no counts"},
                            {R"({"bases": [123456789012345678901234567890]})", "'bases' that is no counts"},
                            {R"({"bases": [0], "trees": {}})", "'trees' that is no list"}});
  ExpectRefused<MutantsReply>(
      {{R"({"names": [], "sensitivities": {"w": "big"}})", "'sensitivities' that is no numbers"}});
}

TEST(Protocol, AHintThatCannotBeReadKeepsItsDefault) {
  ProfileReply profile;
  ASSERT_TRUE(
      Decode(*ParseJson(R"({"launches": 18446744073709551615, "own_us": "fast", "library_us": 2})"), &profile)
          .ok());
  EXPECT_EQ(profile.launches, -1);
  EXPECT_EQ(profile.own_us, 0);
  EXPECT_EQ(profile.library_us, 2);
  EXPECT_TRUE(profile.kernels.is_null());
  ReplyHeader header;
  ASSERT_TRUE(Decode(*ParseJson(R"({"ok": true, "compute_s": [1]})"), &header).ok());
  EXPECT_EQ(header.compute_s, 0);
  StatusReply status;
  ASSERT_TRUE(Decode(*ParseJson(R"({"code": 99999999999, "signal": -9})"), &status).ok());
  EXPECT_EQ(status.code, 0);
  EXPECT_EQ(status.signal, -9);
}

// The header is read first, and the reply from the remaining members.
TEST(Protocol, OneBodyHoldsTheHeaderAndTheReply) {
  Json body = *ParseJson(R"({"ok": true, "compute_s": 0.5, "right": true, "unknown": 1})");
  ReplyHeader header;
  CanaryReply reply;
  ASSERT_TRUE(Decode(std::move(body), &header).ok());
  ASSERT_TRUE(Decode(std::move(body), &reply).ok());
  EXPECT_TRUE(header.ok);
  EXPECT_TRUE(reply.right);
}

}  // namespace
}  // namespace hone
