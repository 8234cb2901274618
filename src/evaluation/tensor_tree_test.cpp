// The description of a tree comes from a process that may be hostile, so most cases here are invalid.
#include "evaluation/tensor_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>

namespace hone {
namespace {

using testing::HasSubstr;

SharedBlob BlobOf(size_t bytes) {
  std::vector<std::byte> content(bytes);
  for (size_t i = 0; i < bytes; ++i) content[i] = static_cast<std::byte>(i);
  return *SharedBlob::Of("test", content);
}

Json Tensor(const std::string& dtype, Json shape, Json offset, Json bytes) {
  return {{"kind", "tensor"}, {"dtype", dtype}, {"shape", shape}, {"offset", offset}, {"bytes", bytes}};
}

Json Items(const std::string& kind, Json items) {
  return {{"kind", kind}, {"items", items}};
}

Result<TensorTree> Parse(const Json& description, size_t blob_bytes = 64) {
  return ParseTree(description, BlobOf(blob_bytes), "output");
}

struct DtypeFacts {
  const char* name;
  size_t size;
  bool floating;
  double epsilon;
};
constexpr DtypeFacts kAll[] = {
    {"float16", 2, true, 0x1p-10}, {"bfloat16", 2, true, 0x1p-7},   {"float32", 4, true, 0x1p-23},
    {"float64", 8, true, 0x1p-52}, {"complex64", 8, true, 0x1p-23}, {"complex128", 16, true, 0x1p-52},
    {"uint8", 1, false, 0},        {"int8", 1, false, 0},           {"int16", 2, false, 0},
    {"int32", 4, false, 0},        {"int64", 8, false, 0},          {"bool", 1, false, 0},
};

TEST(Dtype, KnowsNameSizeAndEpsilonOfEachOne) {
  for (const DtypeFacts& facts : kAll) {
    const Result<Dtype> dtype = ParseDtype(facts.name);
    ASSERT_TRUE(dtype.ok()) << facts.name;
    EXPECT_STREQ(DtypeName(*dtype), facts.name);
    EXPECT_EQ(DtypeSize(*dtype), facts.size) << facts.name;
    EXPECT_EQ(IsFloating(*dtype), facts.floating) << facts.name;
    EXPECT_EQ(Epsilon(*dtype), facts.epsilon) << facts.name;
  }
}

TEST(Dtype, RefusesWhatItDoesNotKnow) {
  for (const char* name : {"", "float", "Float32", "torch.float32", "float32 ", "qint8", "float8_e4m3fn"})
    EXPECT_FALSE(ParseDtype(name).ok()) << name;
}

TEST(ParseTree, PlacesATensorOfEveryDtypeInsideItsBytes) {
  for (const DtypeFacts& facts : kAll) {
    const Result<TensorTree> tree = Parse(Tensor(facts.name, {2, 1, 2}, 0, 4 * facts.size));
    ASSERT_TRUE(tree.ok()) << facts.name;
    ASSERT_EQ(tree->leaves.size(), 1u);
    const TensorLeaf& leaf = tree->leaves[0];
    EXPECT_EQ(leaf.path, "output");
    EXPECT_STREQ(DtypeName(leaf.dtype), facts.name);
    EXPECT_EQ(leaf.elements(), 4u) << facts.name;
    EXPECT_EQ(tree->Bytes(leaf).size(), 4 * facts.size) << facts.name;
    EXPECT_EQ(ShapeText(leaf.shape), "[2, 1, 2]");
  }
}

TEST(ParseTree, NamesEveryLeafByItsPathAndTheStructureAsAWhole) {
  const Json tree = Items(
      "tuple",
      {Tensor("float32", {2}, 0, 8),
       {{"kind", "dict"},
        {"keys", {"h", "c"}},
        {"items", {Tensor("float32", {1}, 8, 4), Items("list", Json::array({Tensor("uint8", {3}, 12, 3)}))}}},
       {{"kind", "value"}, {"value", 3}},
       {{"kind", "opaque"}, {"type", "Foo"}}});
  const Result<TensorTree> parsed = Parse(tree);
  ASSERT_TRUE(parsed.ok());
  std::vector<std::string> paths;
  for (const TensorLeaf& leaf : parsed->leaves) paths.push_back(leaf.path);
  EXPECT_THAT(paths, testing::ElementsAre("output[0]", "output[1]['h']", "output[1]['c'][0]"));
  EXPECT_EQ(parsed->structure, "(tensor, {h: tensor, c: (tensor)}, number, <Foo>)");
  ASSERT_EQ(parsed->numbers.size(), 1U);
  EXPECT_EQ(parsed->numbers[0].path, "output[2]");
  EXPECT_EQ(parsed->numbers[0].value, 3);
  EXPECT_TRUE(parsed->numbers[0].whole);
  EXPECT_EQ(parsed->Bytes(parsed->leaves[2])[0], std::byte{12});
}

TEST(ParseTree, ATupleAndAListOfTheSameThingsCompareEqualAndADictDoesNot) {
  const Json one = Json::array({Tensor("float32", {1}, 0, 4)});
  EXPECT_EQ(Parse(Items("tuple", one))->structure, Parse(Items("list", one))->structure);
  const Json dict = {{"kind", "dict"}, {"keys", {"0"}}, {"items", one}};
  EXPECT_NE(Parse(Items("tuple", one))->structure, Parse(dict)->structure);
  const Json other_key = {{"kind", "dict"}, {"keys", {"1"}}, {"items", one}};
  EXPECT_NE(Parse(other_key)->structure, Parse(dict)->structure);
  const Json number_key = {{"kind", "dict"}, {"keys", Json::array({0})}, {"items", one}};
  EXPECT_NE(Parse(number_key)->structure, Parse(dict)->structure);
  EXPECT_EQ(Parse(number_key)->leaves[0].path, "output[0]");
  Json object = Items("tuple", one);
  object["type"] = "Answer";
  EXPECT_EQ(StrangeClass(object, Items("tuple", one)), "Answer");
  EXPECT_EQ(StrangeClass(Items("tuple", one), object), "");
  EXPECT_EQ(StrangeClass(Items("list", Json::array({object})), Items("list", Json::array({object}))), "");
  object["type"] = "complex";
  EXPECT_NE(Parse(object)->structure, Parse(Items("tuple", one))->structure);
}

TEST(ParseTree, AcceptsScalarsAndEmptyTensors) {
  EXPECT_EQ(Parse(Tensor("float64", Json::array(), 8, 8))->leaves[0].elements(), 1u);
  const Result<TensorTree> empty = Parse(Tensor("float32", {0, 7}, 64, 0));
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->Bytes(empty->leaves[0]).size(), 0u);
  const Result<TensorTree> nothing =
      ParseTree(Tensor("float32", {0}, 0, 0), *SharedBlob::Create("e"), "output");
  ASSERT_TRUE(nothing.ok());
  EXPECT_EQ(nothing->size, 0u);
}

TEST(ParseTree, LeavesMayTouchTheVeryEndOfTheBytesAndNoFurther) {
  EXPECT_TRUE(Parse(Tensor("uint8", {1}, 63, 1)).ok());
  EXPECT_TRUE(Parse(Tensor("uint8", {64}, 0, 64)).ok());
  EXPECT_FALSE(Parse(Tensor("uint8", {1}, 64, 1)).ok());
  EXPECT_FALSE(Parse(Tensor("uint8", {65}, 0, 65)).ok());
  EXPECT_FALSE(Parse(Tensor("uint8", {2}, 63, 2)).ok());
}

TEST(ParseTree, RefusesEveryLieAboutATensorWithASentence) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr uint64_t kUnsignedMax = std::numeric_limits<uint64_t>::max();
  struct Row {
    const char* what;
    Json description;
  };
  const std::vector<Row> rows = {
      {"a negative extent", Tensor("float32", {-1}, 0, 4)},
      {"two negative extents that multiply to a positive", Tensor("float32", {-2, -2}, 0, 16)},
      {"extents that overflow 64 bits", Tensor("uint8", {int64_t{1} << 32, int64_t{1} << 32}, 0, 0)},
      {"extents that wrap round to 4", Tensor("uint8", {(int64_t{1} << 62) + 1, 4}, 0, 4)},
      {"an extent beyond int64", Tensor("uint8", {kUnsignedMax}, 0, 1)},
      {"an extent of half the memory there is", Tensor("uint8", {kMax}, 0, kMax)},
      {"bytes that do not fit the shape", Tensor("float32", {2}, 0, 4)},
      {"bytes of another dtype", Tensor("float64", {2}, 0, 8)},
      {"negative bytes", Tensor("float32", {1}, 0, -4)},
      {"a negative offset", Tensor("float32", {1}, -4, 4)},
      {"an offset outside", Tensor("float32", {1}, 65, 4)},
      {"an offset that wraps round", Tensor("float32", {1}, kMax, 4)},
      {"an offset beyond int64", Tensor("float32", {1}, kUnsignedMax, 4)},
      {"an endless offset", Tensor("float32", {1}, 1e300, 4)},
      {"an empty tensor outside", Tensor("float32", {0}, 65, 0)},
      {"a shape that is a number", Tensor("float32", 4, 0, 16)},
      {"a shape that is an object", Tensor("float32", {{"a", 1}}, 0, 4)},
      {"a shape of text", Tensor("float32", {"1"}, 0, 4)},
      {"a shape of fractions", Tensor("float32", {1.5}, 0, 6)},
      {"a shape with null", Tensor("float32", {nullptr}, 0, 4)},
      {"65 dimensions", Tensor("uint8", Json(std::vector<int>(65, 1)), 0, 1)},
      {"an offset of text", Tensor("float32", {1}, "0", 4)},
      {"bytes of null", Tensor("float32", {1}, 0, nullptr)},
      {"an unknown dtype", Tensor("float31", {1}, 0, 4)},
      {"a dtype that is a number", {{"kind", "tensor"}, {"dtype", 3}, {"shape", {1}}}},
      {"a tensor without anything", {{"kind", "tensor"}}},
      {"no kind", Json::object()},
      {"an unknown kind", {{"kind", "pickle"}}},
      {"a kind that is a list", {{"kind", {"tensor"}}}},
      {"null", nullptr},
      {"a number", 7},
      {"a text", "tensor"},
      {"a bare list", Json::array({1, 2})},
      {"a list without items", {{"kind", "list"}}},
      {"items that are an object", Items("list", {{"a", 1}})},
      {"items of numbers", Items("tuple", {1, 2})},
      {"a dict without keys", Items("dict", Json::array({Tensor("uint8", {1}, 0, 1)}))},
      {"a dict with fewer keys than items",
       {{"kind", "dict"},
        {"keys", {"a"}},
        {"items", {Tensor("uint8", {1}, 0, 1), Tensor("uint8", {1}, 1, 1)}}}},
      {"a good tensor followed by a bad one",
       Items("list", {Tensor("uint8", {1}, 0, 1), Tensor("uint8", {1}, 99, 1)})},
  };
  for (const Row& row : rows) {
    const Result<TensorTree> tree = Parse(row.description);
    ASSERT_FALSE(tree.ok()) << row.what;
    EXPECT_EQ(tree.error().kind, ErrorKind::kInvalid) << row.what;
    EXPECT_FALSE(tree.error().message.empty()) << row.what;
  }
}

TEST(ParseTree, RefusesTooManyTensors) {
  auto many = [](size_t count) {
    return Items("list", Json(std::vector<Json>(count, Tensor("uint8", {1}, 0, 1))));
  };
  EXPECT_TRUE(Parse(many(4096)).ok());
  EXPECT_FALSE(Parse(many(4097)).ok());
}

Json Nested(int depth) {
  Json node = Tensor("uint8", {1}, 0, 1);
  for (int i = 0; i < depth; ++i) {
    Json outer = {{"kind", "list"}, {"items", Json::array()}};
    outer["items"].push_back(std::move(node));
    node = std::move(outer);
  }
  return node;
}

TEST(ParseTree, RefusesATreeThatIsTooDeep) {
  EXPECT_TRUE(Parse(Nested(32)).ok());
  EXPECT_FALSE(Parse(Nested(33)).ok());
  EXPECT_FALSE(Parse(Nested(1000)).ok());
}

// The channel delivers parsed text, and a text of some megabytes can be a hundred thousand levels deep. The
// parent must survive that, so each case runs in its own process.
TEST(ParseTreeDeathTest, ADepthBombEndsTheEvaluationAndNotHone) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  constexpr size_t kDepth = 200'000;
  struct Row {
    const char* what;
    std::string head, tail;
  };
  std::string opens, closes;
  for (size_t i = 0; i < kDepth; ++i) opens += R"({"kind":"list","items":[)";
  for (size_t i = 0; i < kDepth; ++i) closes += "]}";
  const std::vector<Row> rows = {
      {"lists in lists", opens, closes},
      {"a value of lists in lists", R"({"kind":"value","value":)" + std::string(kDepth, '['),
       std::string(kDepth, ']') + "}"},
      {"a field nobody reads",
       R"({"kind":"tensor","dtype":"uint8","shape":[1],"offset":0,"bytes":1,"x":)" + std::string(kDepth, '['),
       std::string(kDepth, ']') + "}"},
  };
  for (const Row& row : rows)
    EXPECT_EXIT(
        {
          const Result<Json> bomb = ParseJson(row.head + row.tail);
          if (bomb.ok()) (void)Parse(*bomb).ok();
          _exit(0);
        },
        testing::ExitedWithCode(0), "")
        << row.what;
}

TEST(ParseTree, ALongKeyIsNotMultipliedByTheTensorsBelowIt) {
  const Json inner = Items("list", Json(std::vector<Json>(256, Tensor("uint8", {1}, 0, 1))));
  const Json tree = {
      {"kind", "dict"}, {"keys", {std::string(1 << 20, 'k')}}, {"items", Json::array({inner})}};
  const Result<TensorTree> parsed = Parse(tree);
  if (!parsed.ok()) return;  // refusing it is also right
  size_t total = 0;
  for (const TensorLeaf& leaf : parsed->leaves) total += leaf.path.size();
  EXPECT_LT(total, size_t{16} << 20) << "256 paths of a megabyte each";
}

TEST(ParseTree, KeysAndTypesOfStrangersBecomeValidText) {
  const Json tree = Items(
      "list",
      {{{"kind", "dict"},
        {"keys", Json::array({"\xff\xfe"})},
        {"items", Json::array({Tensor("uint8", {1}, 0, 1)})}},
       {{"kind", "opaque"}, {"type", "\x80"}},
       {{"kind", "value"}, {"value", "\xc0"}},
       {{"kind", "dict"}, {"keys", Json::array({7})}, {"items", Json::array({Tensor("uint8", {1}, 0, 1)})}}});
  const Result<TensorTree> parsed = Parse(tree);
  ASSERT_TRUE(parsed.ok());
  const Json dumped = {{"structure", parsed->structure}, {"path", parsed->leaves[0].path}};
  EXPECT_TRUE(ParseJson(DumpJson(dumped)).ok());
}

TEST(ParseTree, AKeyCannotPretendToBeAnotherStructure) {
  const Json one = Tensor("uint8", {1}, 0, 1);
  const Json honest = {{"kind", "dict"}, {"keys", {"a", "b"}}, {"items", {one, one}}};
  const Json forged = {{"kind", "dict"}, {"keys", {"a: tensor, b"}}, {"items", Json::array({one})}};
  const Result<TensorTree> first = Parse(honest), second = Parse(forged);
  ASSERT_TRUE(first.ok());
  if (!second.ok()) return;
  EXPECT_FALSE(first->structure == second->structure && first->leaves.size() == second->leaves.size());
}

TEST(ParseTree, RefusesABlobThatItsWriterStillMaps) {
  SharedBlob blob = *SharedBlob::Create("test");
  ASSERT_EQ(ftruncate(blob.fd(), 4096), 0);
  void* held = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, blob.fd(), 0);
  ASSERT_NE(held, MAP_FAILED);
  const Result<TensorTree> tree = ParseTree(Tensor("uint8", {4096}, 0, 4096), blob, "output");
  EXPECT_FALSE(tree.ok());
  munmap(held, 4096);
  EXPECT_TRUE(ParseTree(Tensor("uint8", {4096}, 0, 4096), blob, "output").ok());
}

TEST(ShapeText, ReadsAsPythonWritesIt) {
  EXPECT_EQ(ShapeText({}), "[]");
  EXPECT_EQ(ShapeText({3}), "[3]");
  EXPECT_EQ(ShapeText({10, 512, 0}), "[10, 512, 0]");
}

}  // namespace
}  // namespace hone
