#include "tests/conformance/fault_runner.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/conformance/corpus.h"
#include "tests/conformance/tree_text.h"
#include "tests/conformance/worker_memory.h"

namespace pgparsed::conformance {
namespace {

std::string Describe(const absl::Status& status) {
  if (status.ok()) return "ok";
  return absl::StrCat(std::string(ReasonName(ReasonOf(status))), " (", status.ToString(), ")");
}

bool Contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

absl::StatusOr<std::unique_ptr<FaultRunner>> FaultRunner::Create(const PrivateServer* server,
                                                                 uint32_t grammar) {
  std::unique_ptr<FaultRunner> runner(new FaultRunner(server, grammar));
  // No retries: what the server says first is what counts.
  absl::StatusOr<std::unique_ptr<Client>> client =
      Client::Connect({.address = server->address(),
                       .timeout = std::chrono::seconds(60),
                       .max_attempts = 1,
                       .grammar = grammar});
  if (!client.ok()) return client.status();
  runner->client_ = *std::move(client);
  runner->direct_ = std::make_unique<DirectCalls>(runner->client_->options().address);
  return runner;
}

std::vector<std::string> FaultRunner::Run(const FaultCase& fault) {
  failures_.clear();
  looked_at_ = {"note"};  // For people.
  const nlohmann::json* healthy = Expect(fault, "healthy_after");
  const nlohmann::json* peak = Expect(fault, "peak_mb_at_most");
  const nlohmann::json* seconds = Expect(fault, "seconds_at_most");
  if (peak != nullptr) ResetWorkerPeaks(server_->pid());

  const auto start = std::chrono::steady_clock::now();
  auto running = std::async(std::launch::async, [&] { return RunOperation(fault); });
  if (healthy != nullptr) {
    // A call of another client, so to say: it shares nothing with the case but the server.
    if (const auto other = client_->ParseJson("SELECT 1"); !other.ok()) {
      running.wait();
      Fail("SELECT 1 sent at the same time: " + Describe(other.status()));
    }
  }
  const Outcome outcome = running.get();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;

  CheckOutcome(fault, outcome);
  if (healthy != nullptr) CheckAnswers("afterwards");
  if (seconds != nullptr && spent.count() > seconds->get<double>()) {
    Fail(absl::StrCat("took ", spent.count(), " s"));
  }
  if (peak != nullptr) {
    const uint64_t megabytes = LargestWorkerPeak(server_->pid()) >> 20;
    if (megabytes == 0 || megabytes > peak->get<uint64_t>()) {
      Fail(absl::StrCat("a worker's memory came to ", megabytes, " MB"));
    }
  }
  for (const auto& [key, value] : fault.expect.items()) {
    if (!Contains(looked_at_, key)) Fail("nothing here checks the expectation " + key);
  }
  return failures_;
}

const nlohmann::json* FaultRunner::Expect(const FaultCase& fault, const std::string& key) {
  looked_at_.push_back(key);
  const auto found = fault.expect.find(key);
  return found == fault.expect.end() ? nullptr : &*found;
}

FaultRunner::Outcome FaultRunner::RunOperation(const FaultCase& fault) {
  if (fault.op == "parse") return Parse(fault);
  if (fault.op == "parse_plpgsql") return ParsePlpgsql(fault);
  if (fault.op == "normalize") return Normalize(fault);
  if (fault.op == "fingerprint") return Fingerprint(fault);
  if (fault.op == "scan") return Scan(fault);
  if (fault.op == "split") return Split(fault);
  if (fault.op == "parse_script") return ParseScript(fault);
  if (fault.op == "deparse_roundtrip") return DeparseRoundtrip(fault);
  if (fault.op == "format") return Format(fault);
  Fail("nothing here runs the operation " + fault.op);
  return std::string();
}

// --- What every case may expect ------------------------------------------------------------------

void FaultRunner::CheckOutcome(const FaultCase& fault, const Outcome& outcome) {
  const nlohmann::json* any_of = Expect(fault, "any_of");
  const nlohmann::json* error = Expect(fault, "error");
  Expect(fault, "ok");
  const std::string reason(ReasonName(ReasonOf(outcome.status())));
  if (any_of != nullptr) {
    const bool allowed = std::any_of(any_of->begin(), any_of->end(), [&](const auto& item) {
      const auto text = item.template get<std::string>();
      return outcome.ok() ? text == "ok" || text == *outcome : text == reason;
    });
    if (!allowed) {
      Fail(outcome.ok() && !outcome->empty() && outcome->size() < 200
               ? absl::StrCat("answered ", *outcome)
               : absl::StrCat("answered ", Describe(outcome.status())));
    }
  } else if (error != nullptr) {
    if (error->get<std::string>() != reason) Fail("answered " + Describe(outcome.status()));
  } else if (!outcome.ok()) {
    Fail("answered " + Describe(outcome.status()));
  }

  const std::string message(outcome.status().message());
  const std::vector<std::string> message_keys = {"message_contains",
                                                 absl::StrCat("message_", grammar_)};
  for (const std::string& key : message_keys) {
    const nlohmann::json* part = Expect(fault, key);
    if (part != nullptr && message.find(part->get<std::string>()) == std::string::npos) {
      Fail("the message is: " + message);
    }
  }
  // A message that another grammar gives says nothing about this one.
  for (const char* key : {"message_15", "message_17", "message_18"}) looked_at_.push_back(key);

  // The right text, for operations that make one.
  if (const nlohmann::json* sql = Expect(fault, "sql"); sql != nullptr && outcome.ok()) {
    if (*outcome != sql->get<std::string>()) Fail("answered " + *outcome);
  }
}

void FaultRunner::CheckAnswers(const std::string& when) {
  if (const auto answer = client_->ParseJson("SELECT 1"); !answer.ok()) {
    Fail(absl::StrCat("SELECT 1 ", when, ": ", Describe(answer.status())));
  }
}

// --- The operations ------------------------------------------------------------------------------

FaultRunner::Outcome FaultRunner::ParseJson(const std::string& sql) {
  Outcome tree = client_->ParseJson(sql);
  if (ReasonOf(tree.status()) == Reason::kResultTooLarge) {
    tree = direct_->ParseChunkedJson(sql, grammar_);
  }
  if (tree.ok() && !nlohmann::json::accept(*tree)) Fail("the tree is no valid JSON");
  return tree;
}

FaultRunner::Outcome FaultRunner::ParseAs(const std::string& sql, const std::string& format) {
  if (format == "json") return ParseJson(sql);
  auto request = Make<v1::ParseRequest>(sql);
  request.set_format(format == "columnar" ? v1::TREE_FORMAT_COLUMNAR : v1::TREE_FORMAT_PROTOBUF);
  absl::StatusOr<v1::ParseResponse> response = client_->Parse(request);
  if (!response.ok()) return response.status();
  const bool there =
      format == "columnar" ? response->columnar().node_count() > 0 : !response->protobuf().empty();
  if (!there) Fail("no tree in the answer as " + format);
  return std::string();
}

FaultRunner::Outcome FaultRunner::Parse(const FaultCase& fault) {
  CheckPositions(fault);
  if (!IsQueryText(fault.sql)) {
    // The C++ client refuses such text before it sends it; the server must as well.
    if (const auto own = client_->ParseJson(fault.sql);
        ReasonOf(own.status()) != Reason::kInvalidQueryText) {
      Fail("the client answered " + Describe(own.status()));
    }
    for (const char* method : {"Fingerprint", "Normalize", "Scan", "Split", "Analyze"}) {
      const absl::Status status = direct_->Unary(method, fault.sql, grammar_);
      if (ReasonOf(status) != Reason::kInvalidQueryText) {
        Fail(absl::StrCat(method, " answered ", Describe(status)));
      }
    }
    const absl::Status status = direct_->Unary("Parse", fault.sql, grammar_);
    if (status.ok()) return std::string();
    return status;
  }
  const nlohmann::json* formats = Expect(fault, "formats");
  if (formats == nullptr) {
    Outcome tree = ParseJson(fault.sql);
    // The tree itself is not compared: cases that allow any_of name outcomes, not trees.
    if (tree.ok()) tree->clear();
    return tree;
  }
  for (const nlohmann::json& format : *formats) {
    const Outcome tree = ParseAs(fault.sql, format.get<std::string>());
    if (!tree.ok())
      Fail(absl::StrCat("as ", format.get<std::string>(), ": ", Describe(tree.status())));
  }
  return std::string();
}

void FaultRunner::CheckPositions(const FaultCase& fault) {
  static constexpr std::pair<const char*, v1::PositionEncoding> kKeys[] = {
      {"utf8", v1::POSITION_ENCODING_UTF8},
      {"utf16", v1::POSITION_ENCODING_UTF16},
      {"codepoints", v1::POSITION_ENCODING_UTF32}};
  for (const auto& [key, encoding] : kKeys) {
    const nlohmann::json* position = Expect(fault, key);
    if (position == nullptr) continue;
    auto request = Make<v1::ParseRequest>(fault.sql);
    request.set_position_encoding(encoding);
    const std::optional<SqlError> error = SqlErrorOf(client_->Parse(request).status());
    if (!error.has_value() || error->position != position->get<uint32_t>()) {
      Fail(absl::StrCat("position in ", key, ": ",
                        error.has_value() && error->position.has_value()
                            ? absl::StrCat(*error->position)
                            : "none"));
    }
  }
}

FaultRunner::Outcome FaultRunner::ParsePlpgsql(const FaultCase& fault) {
  Expect(fault, "valid_json");  // Holds for every answer.
  const auto response = client_->ParsePlpgsql(Make<v1::ParsePlpgsqlRequest>(fault.sql));
  if (!response.ok()) return response.status();
  if (!nlohmann::json::accept(response->json())) Fail("the tree is no valid JSON");
  return std::string();
}

FaultRunner::Outcome FaultRunner::Normalize(const FaultCase& fault) {
  return client_->Normalize(fault.sql);
}

absl::StatusOr<uint64_t> FaultRunner::FingerprintOf(const std::string& sql, bool pg17_compatible) {
  auto request = Make<v1::FingerprintRequest>(sql);
  if (pg17_compatible) {
    request.mutable_options()->set_rangevar_ignore_aliases(true);
    request.mutable_options()->set_rangevar_include_schema(true);
  }
  const auto response = client_->Fingerprint(request);
  if (!response.ok()) return response.status();
  return response->fingerprint();
}

FaultRunner::Outcome FaultRunner::Fingerprint(const FaultCase& fault) {
  if (Expect(fault, "pairs") != nullptr) CheckSchemaPair();
  const nlohmann::json* value = Expect(fault, "fingerprint");
  std::vector<std::string> texts = {fault.sql};
  if (const nlohmann::json* each = Expect(fault, "for_each"); each != nullptr) {
    texts = each->get<std::vector<std::string>>();
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto response = client_->Fingerprint(Make<v1::FingerprintRequest>(texts[i]));
    if (!response.ok()) return response.status();
    if (value != nullptr && response->hex() != value->get<std::string>()) {
      Fail(absl::StrCat("text ", i, " has the fingerprint ", response->hex()));
    }
  }
  return std::string();
}

// a.t and b.t: 17 tells them apart, 18 does not, 18 with the options of 17 does.
void FaultRunner::CheckSchemaPair() {
  const auto differ = [&](bool pg17_compatible) -> std::optional<bool> {
    const auto a = FingerprintOf("SELECT * FROM a.t", pg17_compatible);
    const auto b = FingerprintOf("SELECT * FROM b.t", pg17_compatible);
    if (!a.ok() || !b.ok()) return std::nullopt;
    return *a != *b;
  };
  if (differ(false) != std::optional<bool>(grammar_ < 18)) Fail("a.t and b.t by default");
  if (grammar_ >= 18 && differ(true) != std::optional<bool>(true)) {
    Fail("a.t and b.t with the options of 17");
  }
}

FaultRunner::Outcome FaultRunner::Scan(const FaultCase& fault) {
  CheckTokens(fault, "tokens_utf8", v1::POSITION_ENCODING_UTF8);
  CheckTokens(fault, "tokens_utf16", v1::POSITION_ENCODING_UTF16);
  return std::string();
}

void FaultRunner::CheckTokens(const FaultCase& fault, const char* key,
                              v1::PositionEncoding encoding) {
  const nlohmann::json* expected = Expect(fault, key);
  if (expected == nullptr) return;
  auto request = Make<v1::ScanRequest>(fault.sql);
  request.set_position_encoding(encoding);
  const auto response = client_->Scan(request);
  if (!response.ok()) {
    Fail(absl::StrCat(key, ": ", Describe(response.status())));
    return;
  }
  const v1::TokenColumns& tokens = response->tokens();
  nlohmann::json got = nlohmann::json::array();
  for (int i = 0; i < std::min({tokens.name_size(), tokens.start_size(), tokens.end_size()}); ++i) {
    const int name = static_cast<int>(tokens.name(i));
    got.push_back(
        {name < tokens.names_size() ? tokens.names(name) : "?", tokens.start(i), tokens.end(i)});
  }
  if (got != *expected) Fail(absl::StrCat(key, ": ", got.dump()));
}

FaultRunner::Outcome FaultRunner::Split(const FaultCase& fault) {
  const auto response = client_->Split(Make<v1::SplitRequest>(fault.sql));
  if (!response.ok()) return response.status();
  const v1::PieceColumns& pieces = response->pieces();
  int statements = pieces.start_size();
  for (const int kind : pieces.kind()) statements -= kind == v1::PIECE_KIND_STATEMENT ? 0 : 1;
  const nlohmann::json* expected = Expect(fault, "pieces");
  if (expected != nullptr && statements != expected->get<int>()) {
    Fail(absl::StrCat(statements, " statements"));
  }
  return std::string();
}

FaultRunner::Outcome FaultRunner::ParseScript(const FaultCase& fault) {
  const absl::StatusOr<ScriptCounts> counts = direct_->ParseScript(fault.sql, grammar_);
  const auto check = [&](const char* key, uint64_t ScriptCounts::*count) {
    const nlohmann::json* expected = Expect(fault, key);
    if (expected != nullptr && counts.ok() && (*counts).*count != expected->get<uint64_t>()) {
      Fail(absl::StrCat(key, ": ", (*counts).*count));
    }
  };
  check("statements", &ScriptCounts::statements);
  check("copy_rows", &ScriptCounts::copy_rows);
  check("meta_commands", &ScriptCounts::meta_commands);
  if (!counts.ok()) return counts.status();
  return std::string();
}

FaultRunner::Outcome FaultRunner::DeparseRoundtrip(const FaultCase& fault) {
  Expect(fault, "same_tree_after_reparse");  // Holds for every round trip.
  auto parse = Make<v1::ParseRequest>(fault.sql);
  parse.set_format(v1::TREE_FORMAT_PROTOBUF);
  const auto tree = client_->Parse(parse);
  if (!tree.ok()) return tree.status();
  v1::DeparseRequest deparse;
  deparse.set_grammar(grammar_);
  deparse.set_protobuf(tree->protobuf());
  deparse.set_verify(true);
  auto made = client_->Deparse(deparse);
  if (absl::IsUnimplemented(made.status())) {
    deparse.set_verify(false);
    made = client_->Deparse(deparse);
  }
  if (!made.ok()) return made.status();
  const Outcome before = ParseJson(fault.sql);
  if (!before.ok()) return before.status();
  const Outcome after = ParseJson(made->query());
  if (!after.ok()) {
    // No case allows a syntax error here, but some allow nesting that is too deep.
    return after.status();
  }
  if (WithoutLocations(*before) != WithoutLocations(*after)) {
    Fail("the SQL that was made has another tree" +
         (made->query().size() < 200 ? ": " + made->query() : std::string()));
  }
  return made->query();
}

FaultRunner::Outcome FaultRunner::Format(const FaultCase& fault) {
  Outcome made = client_->Format(fault.sql);
  if (!made.ok()) return made.status();
  if (const nlohmann::json* count = Expect(fault, "statements_after_reparse"); count != nullptr) {
    const Outcome tree = ParseJson(*made);
    if (!tree.ok()) {
      Fail("the SQL that was made does not parse: " + Describe(tree.status()));
    } else if (CountStatements(*tree) != count->get<size_t>()) {
      Fail(absl::StrCat(CountStatements(*tree), " statements after parsing again"));
    }
  }
  if (const nlohmann::json* comments = Expect(fault, "comments_kept"); comments != nullptr) {
    for (const nlohmann::json& comment : *comments) {
      if (made->find(comment.get<std::string>()) == std::string::npos) {
        Fail("lost the comment " + comment.get<std::string>());
      }
    }
  }
  return made;
}

}  // namespace pgparsed::conformance
