#include "cli/arguments.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "cli/exit_code.h"

namespace pgparsed::cli {
namespace {

constexpr const char* kAddressVariable = "PGPARSED_ADDRESS";
constexpr const char* kGrammarVariable = "PGPARSED_GRAMMAR";

constexpr const char* kDescription =
    "PostgreSQL's own parser on the command line: a client of a pgparsed server.\n";

constexpr const char* kFooter =
    R"(Examples:
  pgparse parse "SELECT name FROM users WHERE id = 1" --format tree
  pgparse fingerprint -f query.sql --grammar 17
  pg_dump -s shop | pgparse split
  pgparse normalize --json "SELECT 1" | jq -r .query
  pgparse parse --format protobuf "SELECT 1" | pgparse deparse
  pgparse batch --op fingerprint,normalize queries.txt > result.tsv
  pgparse script --check migrations/*.sql
  pgparse workload --by fingerprint,table postgresql.log

The SQL is the argument, the file of -f, or standard input. The server is that of --address; without
it pgparse takes the one on 127.0.0.1:50051, if it runs as you or as root, and else starts a private
server for as long as it needs it ($PGPARSED_BIN, or pgparsed beside pgparse or in PATH).

Exit status:
  0  done
  1  the SQL is wrong: syntax, or nested too deeply
  2  the command line or the input is wrong: options, files, text that is no UTF-8, a malformed
     tree, a grammar or an option that the server lacks
  3  no server can be reached, or it refused: overloaded, a time, memory or size limit
  4  a fault of pgparsed, or the output could not be written

'pgparse COMMAND --help' lists the options of a command.)";

constexpr const char* kServerGroup = "Server";
constexpr const char* kInputGroup = "Input";
constexpr const char* kOutputGroup = "Output";
constexpr const char* kParserGroup = "Parser settings (grammars 17 and 18)";
constexpr const char* kLayoutGroup = "Layout (grammars with a pretty printer)";

template <typename Value>
using Choices = std::vector<std::pair<std::string, Value>>;

const Choices<v1::Operation>& Operations() {
  static const Choices<v1::Operation> operations = {
      {"parse", v1::OPERATION_PARSE},
      {"plpgsql", v1::OPERATION_PARSE_PLPGSQL},
      {"fingerprint", v1::OPERATION_FINGERPRINT},
      {"normalize", v1::OPERATION_NORMALIZE},
      {"scan", v1::OPERATION_SCAN},
      {"split", v1::OPERATION_SPLIT},
      {"format", v1::OPERATION_FORMAT},
      {"comments", v1::OPERATION_EXTRACT_COMMENTS},
      {"summarize", v1::OPERATION_SUMMARIZE},
  };
  return operations;
}

// Those of the streams.
const Choices<v1::Operation>& StreamOperations() {
  static const Choices<v1::Operation> operations = [] {
    Choices<v1::Operation> all = Operations();
    all.emplace_back("check", v1::OPERATION_CHECK);
    return all;
  }();
  return operations;
}

template <typename Value>
std::string Names(const Choices<Value>& choices, const char* separator) {
  std::string names;
  for (const auto& [name, value] : choices)
    absl::StrAppend(&names, names.empty() ? "" : separator, name);
  return names;
}

template <typename Value>
std::optional<Value> Find(const Choices<Value>& choices, const std::string& name) {
  for (const auto& [known, value] : choices) {
    if (known == name) return value;
  }
  return std::nullopt;
}

// An option that takes one of some names.
template <typename Value>
CLI::Option* AddChoice(CLI::App& app, const std::string& flag, Choices<Value> choices,
                       const std::string& description, std::function<void(Value)> set) {
  const std::string names = Names(choices, "|");
  return app
      .add_option_function<std::string>(
          flag,
          [flag, choices = std::move(choices), set = std::move(set)](const std::string& name) {
            const std::optional<Value> value = Find(choices, name);
            if (!value.has_value()) {
              throw CLI::ValidationError(
                  flag, absl::StrCat("\"", name, "\" is not one of ", Names(choices, ", ")));
            }
            set(*value);
          },
          description)
      ->option_text(names);
}

CLI::Option* AddNumber(CLI::App& app, const std::string& flag, uint32_t most,
                       const std::string& description, std::function<void(uint32_t)> set) {
  return app
      .add_option_function<std::string>(
          flag,
          [flag, most, set = std::move(set)](const std::string& text) {
            uint32_t number = 0;
            const bool digits =
                !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
            if (!digits || !absl::SimpleAtoi(text, &number) || number > most) {
              throw CLI::ValidationError(
                  flag, absl::StrCat("\"", text, "\" is not a number from 0 to ", most));
            }
            set(number);
          },
          description)
      ->option_text("N");
}

std::chrono::milliseconds ReadTime(const char* flag, const std::string& text) {
  absl::Duration duration;
  double seconds = 0;
  if (absl::SimpleAtod(text, &seconds)) {
    duration = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(text, &duration)) {
    duration = absl::Seconds(-1);
  }
  if (!(duration >= absl::ZeroDuration() && duration <= absl::Hours(24))) {
    throw CLI::ValidationError(
        flag, absl::StrCat("\"", text, "\" is not a time from 0 to 24h, like 5, 2.5 or 500ms"));
  }
  // A time that rounds to zero must not become "no limit".
  if (duration > absl::ZeroDuration()) duration = std::max(duration, absl::Milliseconds(1));
  return absl::ToChronoMilliseconds(duration);
}

void AddServerOptions(CLI::App& app, Arguments& arguments, bool with_grammar) {
  app.add_option("--address", arguments.address,
                 "The server: host:port or unix:/path\n(env PGPARSED_ADDRESS)")
      ->option_text("ADDRESS")
      ->group(kServerGroup);
  app.add_flag("--tls", arguments.tls, "Speak TLS; so does each of the options below")
      ->group(kServerGroup);
  const auto tls_option = [&](const char* flag, std::string& value, const char* name,
                              const char* text) {
    app.add_option(flag, value, text)->option_text(name)->group(kServerGroup);
  };
  tls_option("--tls-ca", arguments.tls_files.ca_file, "FILE",
             "Who signs the server's certificate (PEM; default: the\nsystem's)");
  tls_option("--tls-cert", arguments.tls_files.cert_file, "FILE",
             "The own certificate (PEM), with --tls-key");
  tls_option("--tls-key", arguments.tls_files.key_file, "FILE", "Its private key (PEM)");
  tls_option("--tls-server-name", arguments.tls_server_name, "NAME",
             "The name in the server's certificate (default: the\naddress' host)");
  app.add_option_function<std::string>(
         "--timeout",
         [&arguments](const std::string& text) { arguments.timeout = ReadTime("--timeout", text); },
         "The longest wait, in seconds or with a unit; 0: none\n(default 30); batch, script and "
         "workload take their time")
      ->option_text("TIME")
      ->group(kServerGroup);
  if (with_grammar) {
    AddNumber(app, "--grammar", 999,
              "PostgreSQL's major version; 0: the server's default\n(env PGPARSED_GRAMMAR)",
              [&arguments](uint32_t number) { arguments.grammar = number; })
        ->group(kServerGroup);
  }
}

void AddJson(CLI::App& app, Arguments& arguments) {
  app.add_flag("--json", arguments.json, "Answers and errors as JSON on standard output")
      ->group(kOutputGroup);
}

void AddTiming(CLI::App& app, Arguments& arguments) {
  app.add_flag("--timing", arguments.timing,
               "Say where the time went: on standard error, or in the JSON")
      ->group(kOutputGroup);
}

void AddPositions(CLI::App& app, Arguments& arguments) {
  AddChoice<v1::PositionEncoding>(app, "--positions",
                                  {{"utf8", v1::POSITION_ENCODING_UTF8},
                                   {"utf16", v1::POSITION_ENCODING_UTF16},
                                   {"utf32", v1::POSITION_ENCODING_UTF32}},
                                  "The unit of positions (default utf8: bytes)",
                                  [&arguments](auto value) { arguments.positions = value; })
      ->group(kOutputGroup);
}

void AddInput(CLI::App& app, Arguments& arguments, const std::string& name,
              const std::string& description) {
  auto* text = app.add_option(name, arguments.text, description)->option_text(" ");
  auto* file =
      app.add_option("-f,--file", arguments.file, "Read it from this file; - is standard input")
          ->option_text("FILE")
          ->group(kInputGroup);
  file->excludes(text);
}

void AddParserOptions(CLI::App& app, Arguments& arguments) {
  AddChoice<v1::ParseMode>(app, "--mode",
                           {{"sql", v1::PARSE_MODE_DEFAULT},
                            {"type-name", v1::PARSE_MODE_TYPE_NAME},
                            {"plpgsql-expr", v1::PARSE_MODE_PLPGSQL_EXPR},
                            {"plpgsql-assign1", v1::PARSE_MODE_PLPGSQL_ASSIGN1},
                            {"plpgsql-assign2", v1::PARSE_MODE_PLPGSQL_ASSIGN2},
                            {"plpgsql-assign3", v1::PARSE_MODE_PLPGSQL_ASSIGN3}},
                           "What the text is (default sql)",
                           [&arguments](auto value) { arguments.parser_options.set_mode(value); })
      ->option_text("MODE")
      ->description(
          "What the text is: sql (default), type-name, plpgsql-expr,\n"
          "plpgsql-assign1, plpgsql-assign2, plpgsql-assign3")
      ->group(kParserGroup);
  const Choices<bool> on_off = {{"on", true}, {"off", false}};
  AddChoice<bool>(app, "--backslash-quote", on_off, "Whether \\' is a quote in E'...' (default on)",
                  [&arguments](bool value) { arguments.parser_options.set_backslash_quote(value); })
      ->group(kParserGroup);
  AddChoice<bool>(
      app, "--standard-conforming-strings", on_off, "Whether \\ is ordinary in '...' (default on)",
      [&arguments](bool value) { arguments.parser_options.set_standard_conforming_strings(value); })
      ->group(kParserGroup);
  AddChoice<bool>(
      app, "--escape-string-warning", on_off, "Whether \\ in '...' is warned of (default on)",
      [&arguments](bool value) { arguments.parser_options.set_escape_string_warning(value); })
      ->group(kParserGroup);
}

// `is_parse`: the formats that Parse alone has, too.
void AddFormat(CLI::App& app, Arguments& arguments, bool is_parse) {
  Choices<ParseFormat> formats = {{"json", ParseFormat::kJson}};
  std::string about = "How the tree is written (default json); tree is a view\nfor people";
  if (is_parse) {
    formats.emplace_back("protobuf", ParseFormat::kProtobuf);
    formats.emplace_back("columnar", ParseFormat::kColumnar);
    about += ", columnar a table of its nodes";
  }
  formats.emplace_back("tree", ParseFormat::kTree);
  AddChoice<ParseFormat>(app, "--format", std::move(formats), about, [&arguments](auto value) {
    arguments.format = value;
  })->group(kOutputGroup);
}

void AddConversion(CLI::App& app, Arguments& arguments) {
  AddChoice<v1::Conversion>(
      app, "--conversion", {{"direct", v1::CONVERSION_DIRECT}, {"library", v1::CONVERSION_LIBRARY}},
      "By pgparsed's own code or by libpg_query's: the same\nresult at another speed",
      [&arguments](auto value) { arguments.conversion = value; })
      ->group(kOutputGroup);
}

void AddFingerprintOptions(CLI::App& app, Arguments& arguments) {
  const auto flag = [&](const char* name, const char* description,
                        void (v1::FingerprintOptions::*set)(bool)) {
    app.add_flag_callback(
           name, [&arguments, set] { (arguments.fingerprint_options.*set)(true); }, description)
        ->group("Fingerprint (grammar 18)");
  };
  flag("--fingerprint-ignore-aliases", "Take table names always, aliases never",
       &v1::FingerprintOptions::set_rangevar_ignore_aliases);
  flag("--fingerprint-include-schema", "Let schema names count",
       &v1::FingerprintOptions::set_rangevar_include_schema);
  flag("--fingerprint-full-relname", "Let digits in table names count",
       &v1::FingerprintOptions::set_full_relname);
}

void AddUtilityOnly(CLI::App& app, Arguments& arguments) {
  app.add_flag("--utility-only", arguments.utility_only,
               "Change utility statements only (CREATE ROLE ... PASSWORD\nand such)");
}

void AddSplitMethod(CLI::App& app, Arguments& arguments) {
  AddChoice<v1::SplitMethod>(app, "--method",
                             {{"tolerant", v1::SPLIT_METHOD_TOLERANT},
                              {"parser", v1::SPLIT_METHOD_PARSER},
                              {"scanner", v1::SPLIT_METHOD_SCANNER}},
                             "tolerant: errors and psql input are fine; parser: exact,\n"
                             "errors are not; scanner: libpg_query's",
                             [&arguments](auto value) { arguments.split_method = value; });
}

// Options of Format and Deparse. Deparse prints on one line unless one of them asks for more.
void AddLayout(CLI::App& app, Arguments& arguments, bool pretty_flag) {
  v1::LayoutOptions& layout = arguments.layout;
  if (pretty_flag) {
    app.add_flag_callback(
           "--pretty", [&layout] { layout.set_pretty(true); },
           "Print each clause on its own line; so does each option\nbelow")
        ->group(kLayoutGroup);
  }
  AddNumber(app, "--indent", 64, "Spaces of an indentation step (default 4)",
            [&layout, pretty_flag](uint32_t number) {
              layout.set_indent_size(number);
              if (pretty_flag) layout.set_pretty(true);
            })
      ->group(kLayoutGroup);
  AddNumber(app, "--max-line-length", 10'000, "Where lists are broken (default 80)",
            [&layout, pretty_flag](uint32_t number) {
              layout.set_max_line_length(number);
              if (pretty_flag) layout.set_pretty(true);
            })
      ->group(kLayoutGroup);
  app.add_flag_callback(
         "--commas-start",
         [&layout, pretty_flag] {
           layout.set_commas_start_of_line(true);
           if (pretty_flag) layout.set_pretty(true);
         },
         "Put separating commas at the start of a line")
      ->group(kLayoutGroup);
  app.add_flag_callback(
         "--trailing-newline",
         [&layout, pretty_flag] {
           layout.set_trailing_newline(true);
           if (pretty_flag) layout.set_pretty(true);
         },
         "Let the server end the text with a line break")
      ->group(kLayoutGroup);
}

void AddDropComments(CLI::App& app, Arguments& arguments) {
  app.add_flag("--drop-comments", arguments.drop_comments,
               "Leave comments out; needed where the grammar loses them")
      ->group(kLayoutGroup);
}

// A list of names, separated by commas.
template <typename Value>
CLI::Option* AddList(CLI::App& app, const std::string& flags, Choices<Value> choices,
                     const std::string& description, std::vector<Value>& values) {
  const std::string name = flags.substr(0, flags.find(','));
  return app
      .add_option_function<std::string>(
          flags,
          [name, choices = std::move(choices), &values](const std::string& list) {
            values.clear();
            std::stringstream words(list);
            for (std::string word; std::getline(words, word, ',');) {
              const std::optional<Value> value = Find(choices, word);
              if (!value.has_value()) {
                throw CLI::ValidationError(
                    name, absl::StrCat("\"", word, "\" is not one of ", Names(choices, ", ")));
              }
              if (std::find(values.begin(), values.end(), *value) != values.end()) {
                throw CLI::ValidationError(name, absl::StrCat("\"", word, "\" is there twice"));
              }
              values.push_back(*value);
            }
            if (values.empty()) throw CLI::ValidationError(name, "the list is empty");
          },
          description)
      ->option_text("LIST");
}

void AddOperations(CLI::App& app, Arguments& arguments) {
  AddList(app, "--operations,--op", Operations(),
          "What to do, separated by commas: parse, plpgsql, fingerprint,\n"
          "normalize, scan, split, format, comments, summarize\n"
          "(default fingerprint,normalize,parse)",
          arguments.operations);
}

void AddStreamOperations(CLI::App& app, Arguments& arguments, const std::string& fallback) {
  AddList(app, "--op,--operations", StreamOperations(),
          "What to do, separated by commas: check, fingerprint, normalize,\n"
          "format, parse, plpgsql; with --json also scan, split, comments,\n"
          "summarize (default " +
              fallback + ")",
          arguments.operations);
}

void AddFiles(CLI::App& app, Arguments& arguments, const std::string& description) {
  app.add_option("FILE", arguments.files, description)->option_text("...");
}

void AddQuiet(CLI::App& app, Arguments& arguments) {
  app.add_flag("-q,--quiet", arguments.quiet, "No progress and no summary on standard error")
      ->group(kOutputGroup);
}

// What every operation of a stream may be told.
void AddStreamOptions(CLI::App& app, Arguments& arguments) {
  AddServerOptions(app, arguments, true);
  AddJson(app, arguments);
  AddQuiet(app, arguments);
  AddPositions(app, arguments);
  AddConversion(app, arguments);
  AddUtilityOnly(app, arguments);
  AddSplitMethod(app, arguments);
  AddFingerprintOptions(app, arguments);
  AddLayout(app, arguments, false);
  AddDropComments(app, arguments);
  AddParserOptions(app, arguments);
}

void AddBatch(CLI::App& app, Arguments& arguments) {
  AddFiles(app, arguments, "Files with queries; without any, standard input");
  AddStreamOperations(app, arguments, "fingerprint,normalize");
  auto* nul = app.add_flag_callback(
                     "-0,--null", [&arguments] { arguments.query_format = QueryFormat::kNul; },
                     "A NUL byte ends each query, not a line feed")
                  ->group(kInputGroup);
  app.add_flag_callback(
         "--jsonl", [&arguments] { arguments.query_format = QueryFormat::kJsonLines; },
         "Each line is a JSON object: {\"query\": \"SELECT 1\"}")
      ->group(kInputGroup)
      ->excludes(nul);
  AddNumber(app, "--chunk", 1'000'000, "Queries sent at once (default 1024)",
            [&arguments](uint32_t number) { arguments.chunk_queries = std::max(number, 1u); })
      ->group(kServerGroup);
  AddStreamOptions(app, arguments);
  app.footer(
      "Prints a line for each query: a column for each operation, separated by tabs,\n"
      "with \\n, \\t, \\r and \\\\ for what would break the line, empty where it failed; errors\n"
      "stand on standard error. --json: an object on each line, errors in it.\n\n"
      "'pgparse --help' has examples and the exit statuses.");
}

void AddScript(CLI::App& app, Arguments& arguments) {
  AddFiles(app, arguments, "Scripts of psql or pg_dump; without any, standard input");
  AddStreamOperations(app, arguments, "check");
  app.add_flag("--check", arguments.check, "Print errors only: for CI")->group(kOutputGroup);
  AddStreamOptions(app, arguments);
  app.footer(
      "Prints offset, line, kind and text of each statement, meta-command and COPY data;\n"
      "errors as FILE:LINE:COLUMN on standard error. --json: an object on each line.\n"
      "A file is gone on with where it was when the connection to the server breaks.\n\n"
      "'pgparse --help' has examples and the exit statuses.");
}

void AddWorkload(CLI::App& app, Arguments& arguments) {
  AddFiles(app, arguments, "Query logs; without any and --merge, standard input");
  AddChoice<LogFormat>(app, "--format",
                       {{"auto", LogFormat::kAuto},
                        {"jsonl", LogFormat::kJsonLines},
                        {"csv", LogFormat::kCsv},
                        {"stderr", LogFormat::kStderr},
                        {"csvlog", LogFormat::kCsvLog},
                        {"jsonlog", LogFormat::kJsonLog}},
                       "", [&arguments](auto value) { arguments.log.format = value; })
      ->option_text("FORMAT")
      ->description(
          "What the logs are: auto (default); jsonl or csv with query,\n"
          "duration_ms, rows, calls; PostgreSQL's own stderr, csvlog,\n"
          "jsonlog")
      ->group(kInputGroup);
  app.add_option_function<std::string>(
         "--log-line-prefix",
         [&arguments](const std::string& text) { arguments.log.log_line_prefix = text; },
         "PostgreSQL's setting of that name, for stderr logs")
      ->option_text("PREFIX")
      ->group(kInputGroup);
  app.add_option("--merge", arguments.merge, "Add reports that --save or --json wrote")
      ->option_text("FILE...")
      ->group(kInputGroup);
  AddList<v1::WorkloadKey>(app, "--by",
                           {{"fingerprint", v1::WORKLOAD_KEY_FINGERPRINT},
                            {"type", v1::WORKLOAD_KEY_STATEMENT_TYPE},
                            {"table", v1::WORKLOAD_KEY_TABLE}},
                           "What to group by: fingerprint (default), type, table", arguments.keys);
  AddChoice<v1::WorkloadOrder>(app, "--order",
                               {{"total", v1::WORKLOAD_ORDER_TOTAL_DURATION},
                                {"calls", v1::WORKLOAD_ORDER_CALLS},
                                {"mean", v1::WORKLOAD_ORDER_MEAN_DURATION},
                                {"max", v1::WORKLOAD_ORDER_MAX_DURATION},
                                {"rows", v1::WORKLOAD_ORDER_ROWS}},
                               "What comes first (default total: the sum of durations)",
                               [&arguments](auto value) { arguments.order = value; });
  AddNumber(app, "--top", 10'000'000, "The most groups; 0: all (default 20)",
            [&arguments](uint32_t number) { arguments.top = number; });
  AddFingerprintOptions(app, arguments);
  app.add_option("--save", arguments.save, "Write the report there, for a later --merge")
      ->option_text("FILE")
      ->group(kOutputGroup);
  app.add_flag("--csv", arguments.csv, "The report as CSV")->group(kOutputGroup);
  AddServerOptions(app, arguments, true);
  AddJson(app, arguments);
  AddQuiet(app, arguments);
}

// The subcommands in the order of --help.
void AddCommands(CLI::App& app, Arguments& arguments) {
  const auto add = [&](Command command, const char* name, const char* description) -> CLI::App& {
    CLI::App* sub = app.add_subcommand(name, description);
    sub->group("Commands");
    sub->footer("'pgparse --help' has examples and the exit statuses.");
    sub->callback([&arguments, command] { arguments.command = command; });
    return *sub;
  };
  const auto sql_command = [&](Command command, const char* name,
                               const char* description) -> CLI::App& {
    CLI::App& sub = add(command, name, description);
    AddInput(sub, arguments, "SQL", "The SQL text; without it and -f, standard input");
    AddServerOptions(sub, arguments, true);
    AddJson(sub, arguments);
    AddTiming(sub, arguments);
    AddPositions(sub, arguments);
    return sub;
  };

  CLI::App& parse = sql_command(Command::kParse, "parse", "SQL to its parse tree");
  AddFormat(parse, arguments, true);
  AddConversion(parse, arguments);
  AddParserOptions(parse, arguments);

  CLI::App& fingerprint =
      sql_command(Command::kFingerprint, "fingerprint", "SQL to the fingerprint of its shape");
  AddFingerprintOptions(fingerprint, arguments);
  AddParserOptions(fingerprint, arguments);

  CLI::App& normalize =
      sql_command(Command::kNormalize, "normalize", "SQL to the same SQL with $n for constants");
  AddUtilityOnly(normalize, arguments);

  sql_command(Command::kScan, "scan", "SQL to its tokens");

  CLI::App& split = sql_command(Command::kSplit, "split", "SQL to its statements");
  AddSplitMethod(split, arguments);

  CLI::App& deparse = add(Command::kDeparse, "deparse", "A parse tree to SQL");
  AddInput(deparse, arguments, "TREE",
           "The tree, only with --from json; without it and -f, standard input");
  AddChoice<bool>(deparse, "--from", {{"protobuf", false}, {"json", true}},
                  "pg_query.ParseResult (default), or the JSON of parse",
                  [&arguments](bool value) { arguments.tree_is_json = value; })
      ->group(kInputGroup);
  AddServerOptions(deparse, arguments, true);
  AddJson(deparse, arguments);
  AddTiming(deparse, arguments);
  AddConversion(deparse, arguments);
  deparse.add_flag("--verify", arguments.verify, "Parse the SQL and compare it with the tree");
  AddLayout(deparse, arguments, true);

  CLI::App& format = sql_command(Command::kFormat, "format", "SQL to SQL in a uniform layout");
  format.add_flag("--no-verify", arguments.no_verify,
                  "Do not compare the result's tree with the query's");
  AddLayout(format, arguments, false);
  AddDropComments(format, arguments);
  AddParserOptions(format, arguments);

  CLI::App& analyze =
      sql_command(Command::kAnalyze, "analyze", "Several results of one SQL text in one call");
  AddOperations(analyze, arguments);
  AddFormat(analyze, arguments, false);
  AddConversion(analyze, arguments);
  AddUtilityOnly(analyze, arguments);
  AddSplitMethod(analyze, arguments);
  AddFingerprintOptions(analyze, arguments);
  AddLayout(analyze, arguments, false);
  AddDropComments(analyze, arguments);
  AddParserOptions(analyze, arguments);

  CLI::App& plpgsql = sql_command(Command::kPlpgsql, "plpgsql",
                                  "CREATE FUNCTION, CREATE PROCEDURE or DO to its PL/pgSQL tree");
  AddFormat(plpgsql, arguments, false);

  sql_command(Command::kComments, "comments", "SQL to its comments and where they belong");

  CLI::App& summarize = sql_command(Command::kSummarize, "summarize",
                                    "SQL to its tables, functions, columns in conditions");
  AddNumber(summarize, "--truncate", 1u << 30, "Add the query, cut to so many bytes",
            [&arguments](uint32_t number) { arguments.truncate_limit = number; })
      ->option_text("BYTES");
  AddParserOptions(summarize, arguments);

  AddBatch(add(Command::kBatch, "batch", "Many queries, a result for each"), arguments);
  AddScript(add(Command::kScript, "script", "SQL files of any size: statements and errors"),
            arguments);
  AddWorkload(add(Command::kWorkload, "workload", "Query logs to one report of what ran"),
              arguments);

  CLI::App& grammars = add(Command::kGrammars, "grammars", "The grammars and limits of the server");
  AddServerOptions(grammars, arguments, false);
  AddJson(grammars, arguments);

  CLI::App& stats = add(Command::kStats, "stats", "The workers, their memory and what they did");
  AddServerOptions(stats, arguments, false);
  AddJson(stats, arguments);
  stats
      .add_option_function<std::string>(
          "--watch",
          [&arguments](const std::string& text) {
            arguments.watch = std::max(ReadTime("--watch", text.empty() ? "1" : text),
                                       std::chrono::milliseconds(100));
          },
          "Look again and again, after TIME (default 1 second)")
      ->option_text("[TIME]")
      ->expected(0, 1)
      ->group(kOutputGroup);
  stats.footer("--address is what the server's --admin-listen says.");

  CLI::App& schema = add(Command::kSchema, "schema", "The protobuf schema of a grammar's trees");
  AddChoice<SchemaFormat>(
      schema, "--format",
      {{"proto", SchemaFormat::kProto}, {"descriptor", SchemaFormat::kDescriptor}},
      "The .proto text (default) or a serialized FileDescriptorSet",
      [&arguments](auto value) { arguments.schema_format = value; })
      ->group(kOutputGroup);
  AddServerOptions(schema, arguments, true);
  AddJson(schema, arguments);
}

// What the options do not say by themselves.
std::optional<std::string> Contradiction(const Arguments& arguments) {
  if (arguments.command == Command::kDeparse && arguments.text.has_value() &&
      *arguments.text != "-" && !arguments.tree_is_json) {
    return "a protobuf tree cannot be an argument: use -f FILE, standard input, or --from json";
  }
  const bool tree_command =
      arguments.command == Command::kParse || arguments.command == Command::kPlpgsql;
  if (arguments.json && tree_command && arguments.format == ParseFormat::kTree) {
    return "--json and --format tree exclude each other: the tree view is for people";
  }
  const bool stream = arguments.command == Command::kBatch || arguments.command == Command::kScript;
  if (stream && !arguments.json) {
    for (const v1::Operation operation : arguments.operations) {
      if (!HasTextForm(operation)) {
        return absl::StrCat(OperationName(operation), " has no form of one line: it needs --json");
      }
    }
  }
  if (arguments.check && arguments.json) {
    return "--check and --json exclude each other: --check prints errors only";
  }
  if (arguments.csv && arguments.json) return "--csv and --json exclude each other";
  if (arguments.json && arguments.format == ParseFormat::kColumnar) {
    return "--json and --format columnar exclude each other: the table is for people";
  }
  return std::nullopt;
}

// CLI11 puts two empty lines between groups.
std::string WithoutDoubleGaps(std::string text) {
  for (size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
  return text;
}

Notice UsageError(const CLI::App& app, const std::string& what) {
  const auto chosen = app.get_subcommands();
  const std::string name =
      chosen.empty() ? "pgparse" : absl::StrCat("pgparse ", chosen.front()->get_name());
  return {absl::StrCat(name, ": ", what, "\nRun '", name, " --help' for help.\n"), kExitUsage};
}

}  // namespace

std::string OperationName(v1::Operation operation) {
  for (const auto& [name, value] : StreamOperations()) {
    if (value == operation) return name;
  }
  return "unspecified";
}

bool HasTextForm(v1::Operation operation) {
  switch (operation) {
    case v1::OPERATION_CHECK:
    case v1::OPERATION_FINGERPRINT:
    case v1::OPERATION_NORMALIZE:
    case v1::OPERATION_FORMAT:
    case v1::OPERATION_PARSE:
    case v1::OPERATION_PARSE_PLPGSQL:
      return true;
    default:
      return false;
  }
}

std::variant<Arguments, Notice> ParseArguments(int argc, const char* const* argv) {
  Arguments arguments;
  CLI::App app(kDescription, "pgparse");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("Positionals", "Argument");
  app.set_version_flag("--version", std::string("pgparse ") + PGPARSED_VERSION,
                       "Print the version");
  app.set_help_flag("-h,--help", "Print this help");
  AddServerOptions(app, arguments, true);
  AddJson(app, arguments);
  if (const char* address = std::getenv(kAddressVariable)) arguments.address = address;
  if (const char* grammar = std::getenv(kGrammarVariable); grammar != nullptr && *grammar != '\0') {
    const std::string text = grammar;
    if (text.find_first_not_of("0123456789") != std::string::npos ||
        !absl::SimpleAtoi(text, &arguments.grammar)) {
      return UsageError(app, absl::StrCat(kGrammarVariable, "=", text, " is not a major version"));
    }
  }
  AddCommands(app, arguments);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // help or the version was asked for
      std::ostringstream out;
      std::ostringstream ignored;
      app.exit(error, out, ignored);
      return Notice{WithoutDoubleGaps(out.str()), kExitOk};
    }
    if (app.get_subcommands().empty() && error.get_name() == "RequiredError") {
      const std::vector<std::string> unknown = app.remaining();
      return UsageError(app, unknown.empty()
                                 ? "a command is needed, for example: pgparse parse \"SELECT 1\""
                                 : absl::StrCat("there is no command \"", unknown.front(), "\""));
    }
    return UsageError(app, error.what());
  }
  if (arguments.operations.empty()) {
    switch (arguments.command) {
      case Command::kBatch:
        arguments.operations = {v1::OPERATION_FINGERPRINT, v1::OPERATION_NORMALIZE};
        break;
      case Command::kScript:
        arguments.operations = {v1::OPERATION_CHECK};
        break;
      default:
        arguments.operations = {v1::OPERATION_FINGERPRINT, v1::OPERATION_NORMALIZE,
                                v1::OPERATION_PARSE};
    }
  }
  if (arguments.keys.empty()) arguments.keys = {v1::WORKLOAD_KEY_FINGERPRINT};
  if (const auto contradiction = Contradiction(arguments)) return UsageError(app, *contradiction);
  return arguments;
}

}  // namespace pgparsed::cli
