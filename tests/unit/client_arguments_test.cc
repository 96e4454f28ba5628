#include "cli/arguments.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>

namespace pgparsed::cli {
namespace {

class ArgumentsTest : public testing::Test {
 protected:
  ArgumentsTest() {
    ::unsetenv("PGPARSED_ADDRESS");
    ::unsetenv("PGPARSED_GRAMMAR");
  }
  ~ArgumentsTest() override {
    ::unsetenv("PGPARSED_ADDRESS");
    ::unsetenv("PGPARSED_GRAMMAR");
  }

  static std::variant<Arguments, Notice> Parse(std::initializer_list<const char*> words) {
    std::vector<const char*> argv = {"pgparse"};
    argv.insert(argv.end(), words);
    return ParseArguments(static_cast<int>(argv.size()), argv.data());
  }

  static Arguments Taken(std::initializer_list<const char*> words) {
    auto parsed = Parse(words);
    if (const auto* notice = std::get_if<Notice>(&parsed)) {
      ADD_FAILURE() << notice->text;
      return {};
    }
    return std::get<Arguments>(parsed);
  }

  static std::string Refused(std::initializer_list<const char*> words) {
    auto parsed = Parse(words);
    const auto* notice = std::get_if<Notice>(&parsed);
    if (notice == nullptr) return "taken";
    EXPECT_EQ(notice->exit_code, 2);
    return notice->text;
  }
};

TEST_F(ArgumentsTest, OptionsMayStandBeforeAndBehindTheCommand) {
  for (const auto& arguments : {Taken({"--address", "h:1", "--json", "parse", "SELECT 1"}),
                                Taken({"parse", "SELECT 1", "--json", "--address=h:1"})}) {
    EXPECT_EQ(arguments.command, Command::kParse);
    EXPECT_EQ(arguments.address, "h:1");
    EXPECT_TRUE(arguments.json);
    EXPECT_EQ(arguments.text, "SELECT 1");
  }
}

TEST_F(ArgumentsTest, TheEnvironmentGivesDefaultsThatOptionsOverride) {
  ::setenv("PGPARSED_ADDRESS", "env:1", 1);
  ::setenv("PGPARSED_GRAMMAR", "17", 1);
  EXPECT_EQ(Taken({"scan", "x"}).address, "env:1");
  EXPECT_EQ(Taken({"scan", "x"}).grammar, 17u);
  EXPECT_EQ(Taken({"scan", "x", "--address", "flag:1"}).address, "flag:1");
  EXPECT_EQ(Taken({"--grammar", "15", "scan", "x"}).grammar, 15u);
  ::setenv("PGPARSED_GRAMMAR", "new", 1);
  EXPECT_NE(Refused({"scan", "x"}).find("PGPARSED_GRAMMAR=new"), std::string::npos);
}

TEST_F(ArgumentsTest, SqlMayLookLikeACommandOrAComment) {
  EXPECT_EQ(Taken({"scan", "analyze"}).text, "analyze");
  EXPECT_EQ(Taken({"scan", "-- a comment"}).text, "-- a comment");
  EXPECT_EQ(Taken({"scan", "[1, 2]"}).text, "[1, 2]");
  EXPECT_EQ(Taken({"scan", ""}).text, "");
  EXPECT_EQ(Taken({"scan", "--", "--x"}).text, "--x");
  EXPECT_EQ(Taken({"scan"}).text, std::nullopt);
}

TEST_F(ArgumentsTest, TimesAreSecondsOrHaveAUnit) {
  const auto timeout = [](const char* text) {
    return Taken({"scan", "x", "--timeout", text}).timeout.count();
  };
  EXPECT_EQ(timeout("5"), 5000);
  EXPECT_EQ(timeout("2.5"), 2500);
  EXPECT_EQ(timeout("500ms"), 500);
  EXPECT_EQ(timeout("2m"), 120'000);
  EXPECT_EQ(timeout("0"), 0);
  EXPECT_EQ(timeout("0.00001"), 1);
  for (const char* text : {"-1", "x", "", "nan", "inf", "25h", "5 parsecs"}) {
    EXPECT_NE(Refused({"scan", "x", "--timeout", text}).find("--timeout"), std::string::npos)
        << text;
  }
}

TEST_F(ArgumentsTest, ParserSettingsAreSentOnlyWhenGiven) {
  EXPECT_EQ(Taken({"parse", "x"}).parser_options.ByteSizeLong(), 0u);
  const Arguments arguments =
      Taken({"parse", "x", "--mode", "type-name", "--standard-conforming-strings", "off"});
  EXPECT_EQ(arguments.parser_options.mode(), v1::PARSE_MODE_TYPE_NAME);
  EXPECT_TRUE(arguments.parser_options.has_standard_conforming_strings());
  EXPECT_FALSE(arguments.parser_options.standard_conforming_strings());
  EXPECT_FALSE(arguments.parser_options.has_backslash_quote());
}

TEST_F(ArgumentsTest, LayoutOptionsOfDeparseAskForPrettyPrinting) {
  EXPECT_FALSE(Taken({"deparse"}).layout.pretty());
  EXPECT_TRUE(Taken({"deparse", "--pretty"}).layout.pretty());
  const Arguments arguments = Taken({"deparse", "--indent", "2", "--max-line-length", "60",
                                     "--commas-start", "--trailing-newline"});
  EXPECT_TRUE(arguments.layout.pretty());
  EXPECT_EQ(arguments.layout.indent_size(), 2u);
  EXPECT_EQ(arguments.layout.max_line_length(), 60u);
  EXPECT_TRUE(arguments.layout.commas_start_of_line());
  EXPECT_TRUE(arguments.layout.trailing_newline());
}

TEST_F(ArgumentsTest, AnalyzeTakesAListOfOperations) {
  EXPECT_EQ(Taken({"analyze", "x", "--operations", "scan,comments"}).operations,
            (std::vector<v1::Operation>{v1::OPERATION_SCAN, v1::OPERATION_EXTRACT_COMMENTS}));
  EXPECT_EQ(Taken({"analyze", "x"}).operations.size(), 3u);
  EXPECT_NE(Refused({"analyze", "x", "--operations", "scan,dance"}).find("dance"),
            std::string::npos);
  EXPECT_NE(Refused({"analyze", "x", "--operations", "scan,scan"}).find("twice"),
            std::string::npos);
  EXPECT_NE(Refused({"analyze", "x", "--operations", ""}).find("empty"), std::string::npos);
}

TEST_F(ArgumentsTest, WrongUseIsOneLineAndAHint) {
  EXPECT_EQ(Refused({"dance"}),
            "pgparse: there is no command \"dance\"\nRun 'pgparse --help' for help.\n");
  EXPECT_EQ(Refused({"parse", "x", "--format", "xml"}),
            "pgparse parse: --format: \"xml\" is not one of json, protobuf, columnar, tree\n"
            "Run 'pgparse parse --help' for help.\n");
  EXPECT_NE(Refused({}).find("a command is needed"), std::string::npos);
  EXPECT_NE(Refused({"parse", "a", "b"}).find("not expected: b"), std::string::npos);
  EXPECT_NE(Refused({"parse", "a", "-f", "b"}).find("excludes"), std::string::npos);
  EXPECT_NE(Refused({"parse", "--indent", "2"}).find("--indent"), std::string::npos);
  EXPECT_NE(Refused({"format", "--indent", "65"}).find("0 to 64"), std::string::npos);
  EXPECT_NE(Refused({"format", "--indent", "-1"}).find("0 to 64"), std::string::npos);
  EXPECT_NE(Refused({"deparse", "abc"}).find("--from json"), std::string::npos);
  EXPECT_NE(Refused({"parse", "x", "--json", "--format", "tree"}).find("exclude"),
            std::string::npos);
  EXPECT_NE(Refused({"parse", "x", "--json", "--format", "columnar"}).find("exclude"),
            std::string::npos);
}

TEST_F(ArgumentsTest, HelpAndVersionAreNoErrors) {
  for (const auto& words :
       {std::initializer_list<const char*>{"--help"}, {"parse", "--help"}, {"--version"}}) {
    auto parsed = Parse(words);
    ASSERT_TRUE(std::holds_alternative<Notice>(parsed));
    EXPECT_EQ(std::get<Notice>(parsed).exit_code, 0);
  }
  EXPECT_EQ(std::get<Notice>(Parse({"--version"})).text, "pgparse " PGPARSED_VERSION "\n");
}

TEST_F(ArgumentsTest, HelpFitsAHundredColumnsAndTellsTheExitStatuses) {
  const auto help = [](std::initializer_list<const char*> words) {
    return std::get<Notice>(Parse(words)).text;
  };
  for (const std::string& text :
       {help({"--help"}), help({"parse", "--help"}), help({"analyze", "--help"}),
        help({"deparse", "--help"}), help({"format", "--help"}), help({"split", "--help"}),
        help({"summarize", "--help"}), help({"schema", "--help"})}) {
    size_t begin = 0;
    for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      EXPECT_LE(end - begin, 100u) << text.substr(begin, end - begin);
    }
  }
  EXPECT_NE(help({"--help"}).find("Exit status:\n  0  done\n  1  "), std::string::npos);
}

}  // namespace
}  // namespace pgparsed::cli
