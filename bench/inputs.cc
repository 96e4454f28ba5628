#include "bench/inputs.h"

#include <fstream>
#include <iostream>
#include <sstream>
#include <string_view>
#include <utility>

#include "tests/conformance/corpus.h"

namespace pgparsed::bench {
namespace {

constexpr std::string_view kSmall = "SELECT id, name FROM users WHERE id = 42 -- ok";
constexpr std::string_view kMedium =
    "SELECT c.id, c.name, count(o.id) AS orders, sum(o.total) FILTER (WHERE o.state = 'paid') AS "
    "paid, max(o.created_at) AS last_order FROM customers c LEFT JOIN orders o ON o.customer_id = "
    "c.id AND o.deleted_at IS NULL WHERE c.country IN ('AT', 'CH', 'DE', 'FR', 'IT', 'PT') AND "
    "c.first_visited_at >= '2024-01-01' GROUP BY c.id, c.name HAVING "
    "count(o.id) > 3 ORDER BY paid DESC LIMIT 1000";
static_assert(kSmall.size() == 46);
static_assert(kMedium.size() == 384);

std::string ReferenceJob() {
  std::string select = "SELECT ";
  for (int i = 0; i < 400; ++i) {
    if (i > 0) select += ", ";
    select += "c" + std::to_string(i);
  }
  select += " FROM t";
  std::string job = select;
  for (int i = 1; i < 1500; ++i) job += " UNION ALL " + select;
  return job;
}

}  // namespace

std::vector<Input> Inputs(const std::string& corpus) {
  std::vector<Input> inputs = {{"select_1", {"SELECT 1"}},
                               {"select_46", {std::string(kSmall)}},
                               {"select_384", {std::string(kMedium)}}};
  if (std::ifstream file(corpus + "/bench/large_select.sql", std::ios::binary); file) {
    std::ostringstream text;
    text << file.rdbuf();
    inputs.push_back({"large_select", {text.str()}});
  }
  if (auto statements = conformance::LoadCorpus(corpus); statements.ok()) {
    Input input{.name = "corpus", .texts = {}, .long_running = true};
    for (conformance::CorpusStatement& statement : *statements) {
      if (conformance::IsQueryText(statement.sql)) input.texts.push_back(std::move(statement.sql));
    }
    inputs.push_back(std::move(input));
  } else {
    std::cerr << "no corpus in '" << corpus << "': small inputs and the reference job only\n";
  }
  inputs.push_back({.name = "reference_job", .texts = {ReferenceJob()}, .long_running = true});
  return inputs;
}

}  // namespace pgparsed::bench
