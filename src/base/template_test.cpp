#include "base/template.h"
#include "base/json.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

struct Good {
  const char* text;
  const char* values;
  const char* expected;
};

class RendersTemplate : public testing::TestWithParam<Good> {};

TEST_P(RendersTemplate, AsExpected) {
  const Result<std::string> out = RenderTemplate(GetParam().text, *ParseJson(GetParam().values));
  ASSERT_TRUE(out.ok()) << out.error().message;
  EXPECT_EQ(*out, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Template, RendersTemplate,
    testing::Values(
        Good{"plain {{x}} <<<g, b>>> a@b.c @jit\n", "{}", "plain {{x}} <<<g, b>>> a@b.c @jit\n"},
        Good{"@triton.jit\ndef f(): return x @ y @ z\n", "{}", "@triton.jit\ndef f(): return x @ y @ z\n"},
        Good{"H=@{h}@ n=@{ a.b }@", R"({"h": 256, "a": {"b": "x"}})", "H=256 n=x"},
        Good{"@{l}@ @{f}@", R"({"l": [1, 2], "f": true})", "[1,2] true"},
        Good{"a\n@if x@\nyes\n@else@\nno\n@end@\nb\n", R"({"x": 1})", "a\nyes\nb\n"},
        Good{"a\n  @if x@\nyes\n  @else@\nno\n  @end@\nb\n", R"({"x": []})", "a\nno\nb\n"},
        Good{"@if k == \"gru\"@G@elif k == \"lstm\"@L@else@R@end@", R"({"k": "lstm"})", "L"},
        Good{"@if n != 3@other@else@three@end@", R"({"n": 3})", "three"},
        Good{"@if not s@empty@end@", R"({"s": ""})", "empty"},
        Good{"@for v in l@@{loop.index}@:@{v.n}@@if not loop.last@, @end@@end@",
             R"({"l": [{"n": "a"}, {"n": "b"}]})", "1:a, 2:b"},
        Good{"@for r in m@\n@for c in r@@{c}@ @end@\n@end@\n", R"({"m": [[1, 2], [3]]})", "1 2 \n3 \n"},
        Good{"x @# not\nshown #@ y", "{}", "x  y"}, Good{"@# gone with its line #@\ny", "{}", "y"}));

struct Bad {
  const char* text;
  const char* message;
};

class RefusesTemplate : public testing::TestWithParam<Bad> {};

TEST_P(RefusesTemplate, WithTheLine) {
  const Result<std::string> out = RenderTemplate(GetParam().text, Json{{"x", 1}});
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Template, RefusesTemplate,
    testing::Values(Bad{"a\n@{y}@", "template line 2: there is no value 'y'"},
                    Bad{"@{x.y}@", "template line 1: there is no value 'x.y'"},
                    Bad{"@{x", "template line 1: @{ without }@ on the same line"},
                    Bad{"@{x y}@", "template line 1: 'x y' is not a path"},
                    Bad{"\n@if x@", "template line 2: @if without @end@"},
                    Bad{"@for v in x@@end@", "template line 1: 'x' is not a list"},
                    Bad{"@for v@@end@", "template line 1: @for needs `item in path`"},
                    Bad{"@end@", "template line 1: @end@ without an @if or @for before it"},
                    Bad{"@if x@@else@@else@@end@", "template line 1: @else@ after @else@"},
                    Bad{"@if y@@end@", "template line 1: there is no value 'y'"},
                    Bad{"@if x == yes@@end@", "template line 1: 'yes' is no JSON value"},
                    Bad{"a @# b", "template line 1: @# without #@"}));

}  // namespace
}  // namespace hone
