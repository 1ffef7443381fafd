#include "reader/function_names.h"

#include <gtest/gtest.h>

#include <string>

namespace refrain::reader {
namespace {

TEST(FunctionNames, UndoesWhatTheCompilerMadeOfAName) {
  EXPECT_EQ(readable_name("exchange_edges"), "exchange_edges");
  EXPECT_EQ(readable_name("_Z4haloi"), "halo");
  EXPECT_EQ(readable_name("_ZN4GridIdLi3EE8exchangeEi"), "Grid<double, 3>::exchange");
  // The type of the result of a template is part of its mangled name.
  EXPECT_EQ(readable_name("_Z5applyIdESt6vectorIT_SaIS1_EES1_"), "apply<double>");
  EXPECT_EQ(readable_name("_ZN12_GLOBAL__N_14haloEi"), "(anonymous namespace)::halo");
  EXPECT_EQ(readable_name("_ZNK3FoocvmEv"), "Foo::operator unsigned long");
  EXPECT_EQ(readable_name("_ZNK3FooclEi"), "Foo::operator()");
  EXPECT_EQ(readable_name("_ZlsRSo3Foo"), "operator<<");
  EXPECT_EQ(readable_name("_ZltIiEbT_S0_"), "operator< <int>");
  EXPECT_EQ(readable_name("_ZZ4mainENKUlRKSt6vectorIiSaIiEEE_clES3_"),
            "main::{lambda(std::vector<int, std::allocator<int> > const&)#1}::operator()");
  EXPECT_EQ(readable_name("_ZZ4haloiEN5Local3runEv"), "halo(int)::Local::run");
}

TEST(FunctionNames, DropsWhatPartsOfFunctionsAreCalled) {
  EXPECT_EQ(readable_name("exchange.constprop.0"), "exchange");
  EXPECT_EQ(readable_name("_Z4haloi.part.0"), "halo");
  EXPECT_EQ(readable_name("_Z4haloi.isra.0.cold"), "halo");
}

TEST(FunctionNames, KeepsWhatIsNoName) {
  for (const char* text : {"", "_Z", "_ZN", "_Z4hal", "<", "a<b", "}", "operator", ".part.0"})
    EXPECT_EQ(readable_name(text), text);
}

TEST(FunctionNames, FoldsTemplateArguments) {
  EXPECT_EQ(folded_name("Grid<double, 3>::exchange"), "Grid<…>::exchange");
  EXPECT_EQ(folded_name("A<B<int> >::C<D<int>(E)>::run"), "A<…>::C<…>::run");
  EXPECT_EQ(folded_name("A<(2 > 1)>::run"), "A<…>::run");
  EXPECT_EQ(folded_name("main::{lambda(std::vector<int>)#1}::operator()"),
            "main::{lambda(…)#1}::operator()");
  EXPECT_EQ(folded_name("main::{lambda()#1}::operator()"), "main::{lambda()#1}::operator()");
}

TEST(FunctionNames, FoldsNoOperators) {
  for (const char* text : {"operator<", "operator<<", "X::operator->", "X::operator<=>",
                           "a::operator>", "X::operator()", "my_operator", "operator new"})
    EXPECT_EQ(folded_name(text), text);
  EXPECT_EQ(folded_name("operator< <int>"), "operator< <…>");
  EXPECT_EQ(folded_name("operator<< <int>"), "operator<< <…>");
  EXPECT_EQ(folded_name("my_operator<int>"), "my_operator<…>");
}

TEST(FunctionNames, FoldsInCallPaths) {
  EXPECT_EQ(folded_name("main a.cc:1 > run<V<int> > b.cc:2 > X::operator> c.cc:3"),
            "main a.cc:1 > run<…> b.cc:2 > X::operator> c.cc:3");
  EXPECT_EQ(folded_name("<module> a.py:1 > f a.py:2"), "<module> a.py:1 > f a.py:2");
}

TEST(FunctionNames, EndsWithAnyBytes) {
  for (const char* text :
       {"a<", "a<b", "a<(>", "a<)", "}", "a>", "{lambda(", "a<b]c>", "operator<<"})
    EXPECT_EQ(folded_name(text), text);
  EXPECT_EQ(folded_name(std::string(100000, '<')).size(), 100000U);
  EXPECT_FALSE(readable_name(("_Z4" + std::string(200000, 'a')).c_str()).empty());
}

}  // namespace
}  // namespace refrain::reader
