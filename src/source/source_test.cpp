#include <gtest/gtest.h>

#include <string>

#include "source/python_ast.h"
#include "source/source_text.h"
#include "source/syntax_tree.h"

namespace hone {
namespace {

struct Parsed {
  explicit Parsed(std::string source)
      : text(std::move(source)),
        syntax(SyntaxTree::Parse(text, Language::kPython)),
        tree(BuildPythonTree(syntax)) {}
  const PyNode* first() const { return tree.module->body.empty() ? nullptr : tree.module->body[0]; }
  std::string text;
  SyntaxTree syntax;
  PyTree tree;
};

TEST(SourceText, CountsLinesAndColumnsInCharacters) {
  const SourceText source("ab\n\xC3\xA9x = 1\r\nlast");
  EXPECT_EQ(source.PositionAt(0).line, 1u);
  EXPECT_EQ(source.PositionAt(5).line, 2u);
  EXPECT_EQ(source.PositionAt(5).column, 2u);
  EXPECT_EQ(source.Line(2), "\xC3\xA9x = 1");
  EXPECT_EQ(source.Line(3), "last");
  EXPECT_EQ(source.Line(9), "");
  EXPECT_EQ(source.PositionAt(10'000).line, 3u);
}

TEST(PythonTree, ChainsOfOneBooleanOperatorAreOneNode) {
  const Parsed parsed("r = a and b and c or d\n");
  const PyNode* value = parsed.first()->value;
  ASSERT_TRUE(value->Is(PyKind::kBoolOp));
  EXPECT_EQ(value->op, "or");
  ASSERT_EQ(value->args.size(), 2u);
  EXPECT_EQ(value->args[0]->args.size(), 3u);
}

TEST(PythonTree, ParenthesesKeepChainsApart) {
  const Parsed parsed("r = a and (b and c)\n");
  EXPECT_EQ(parsed.first()->value->args.size(), 2u);
}

TEST(PythonTree, ComparisonsKeepTheirOperators) {
  const Parsed parsed("r = 0 <= a is not b not in c\n");
  const PyNode* value = parsed.first()->value;
  ASSERT_TRUE(value->Is(PyKind::kCompare));
  ASSERT_EQ(value->ops.size(), 3u);
  EXPECT_EQ(value->ops[1], "is not");
  EXPECT_EQ(value->ops[2], "not in");
}

TEST(PythonTree, LaunchesAreCallsOfSubscripts) {
  const Parsed parsed("kernel[(n, 2)](x, y, *rest, BLOCK=64, **meta)\n");
  const PyNode* call = parsed.first()->value;
  ASSERT_TRUE(call->Is(PyKind::kCall));
  EXPECT_TRUE(call->value->Is(PyKind::kSubscript));
  EXPECT_EQ(call->args.size(), 3u);
  EXPECT_TRUE(call->args[2]->Is(PyKind::kStarred));
  ASSERT_EQ(call->keywords.size(), 2u);
  EXPECT_EQ(call->keywords[0]->name, "BLOCK");
  EXPECT_EQ(call->keywords[1]->name, "");
}

TEST(PythonTree, ParametersHaveAnnotationsDefaultsAndStars) {
  const Parsed parsed("def f(a, b: int, c=1, *args, d: tl.constexpr = 2, **kw): pass\n");
  const PyNode* function = parsed.first();
  ASSERT_EQ(function->params.size(), 6u);
  EXPECT_EQ(function->params[1]->name, "b");
  EXPECT_NE(function->params[1]->annotation, nullptr);
  EXPECT_EQ(function->params[3]->op, "*");
  EXPECT_EQ(DottedName(function->params[4]->annotation), "tl.constexpr");
  EXPECT_EQ(function->params[4]->value->integer, 2);
  EXPECT_EQ(function->params[5]->op, "**");
}

TEST(PythonTree, ElifIsAnIfInsideElse) {
  const Parsed parsed("if a:\n    x = 1\nelif b:\n    x = 2\nelse:\n    x = 3\n");
  const PyNode* node = parsed.first();
  ASSERT_EQ(node->orelse.size(), 1u);
  ASSERT_TRUE(node->orelse[0]->Is(PyKind::kIf));
  EXPECT_EQ(node->orelse[0]->orelse.size(), 1u);
}

TEST(PythonTree, HandlersAndContextManagersBindNames) {
  const Parsed parsed(
      "try:\n    pass\nexcept (A, B) as e:\n    pass\nwith open(p) as f, g() as h:\n    pass\n");
  EXPECT_EQ(parsed.first()->args[0]->name, "e");
  const PyNode* with = parsed.tree.module->body[1];
  ASSERT_EQ(with->args.size(), 2u);
  EXPECT_EQ(with->args[1]->target->name, "h");
}

TEST(PythonTree, NumbersOfEveryBaseAreRead) {
  const Parsed parsed("x = [0x10, 0b11, 0o7, 1_000, 1.5e2, 99999999999999999999]\n");
  const auto& items = parsed.first()->value->args;
  EXPECT_EQ(items[0]->integer, 16);
  EXPECT_EQ(items[1]->integer, 3);
  EXPECT_EQ(items[2]->integer, 7);
  EXPECT_EQ(items[3]->integer, 1000);
  EXPECT_EQ(items[4]->number, 150);
  EXPECT_TRUE(items[5]->big);
}

TEST(PythonTree, WhatSurroundsASyntaxErrorIsStillThere) {
  const Parsed parsed("import torch\ndef f(:\n    return 1\nclass ModelNew:\n    pass\n");
  EXPECT_NE(parsed.syntax.first_error(), nullptr);
  EXPECT_TRUE(parsed.first()->Is(PyKind::kImport));
}

TEST(PythonTree, DeepNestingEndsInAnErrorNodeInsteadOfTheStack) {
  const Parsed parsed("x = " + std::string(5000, '(') + "1" + std::string(5000, ')') + "\n");
  EXPECT_NE(parsed.tree.module, nullptr);
  const Parsed unary("x = " + std::string(20000, '-') + "1\n");
  EXPECT_NE(unary.tree.module, nullptr);
}

std::string Times(int count, const std::string& part) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

// On some of these the library corrupts the heap of the process that parses them.
TEST(SyntaxTree, NoTextOfAnyDepthEndsTheProgram) {
  constexpr int kTimes = 70'000;
  for (const char* part : {"((((", "-", "not ", "x = ", "a ** "})
    SyntaxTree::Parse("class ModelNew(:\n" + Times(kTimes, part), Language::kPython);
  SyntaxTree::Parse("x = " + Times(kTimes, "-") + "1\n", Language::kPython);
  for (const char* part : {"((((", "{", "-", "a = "})
    SyntaxTree::Parse("void f() { " + Times(kTimes, part), Language::kCuda);
}

TEST(SyntaxTree, ALongTextIsParsedLikeAShortOne) {
  const std::string text = "x = [" + Times(40'000, "-1.5, ") + "]\n";
  const SyntaxTree syntax = SyntaxTree::Parse(text, Language::kPython);
  ASSERT_FALSE(syntax.gave_up());
  EXPECT_EQ(syntax.first_error(), nullptr);
}

TEST(SyntaxTree, ReadsCudaLaunches) {
  const std::string text = "__global__ void k(float* x) { x[0] = 1.f; }\nvoid f() { k<<<1, 32>>>(p); }\n";
  const SyntaxTree tree = SyntaxTree::Parse(text, Language::kCuda);
  bool found = false;
  for (const SyntaxNode* node = tree.root(); node != nullptr; node = NextInDocument(node, tree.root()))
    found = found || node->Is("kernel_call_syntax");
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace hone
