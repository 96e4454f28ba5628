// Runs the cases of known faults through a server of its own, for one grammar.
//
//   faults --grammar N --server-bin PATH --worker-dir DIR --cases PATH --expected-failures PATH
//          [--only ID]
//
// A case must pass unless it is listed as an expected failure; a listed one that passes fails the
// test too, so that the list is exact. Ends with 0 or 1; 2 when the test could not run. --only runs
// one case and does not mind the list.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cpp/private_server.h"
#include "tests/conformance/expected_failures.h"
#include "tests/conformance/fault_case.h"
#include "tests/conformance/fault_runner.h"

namespace pgparsed::conformance {
namespace {

struct Arguments {
  uint32_t grammar = 0;
  std::string server_bin;
  std::string worker_dir;
  std::string cases;
  std::string expected_failures;
  std::string only;
};

int CannotRun(const absl::Status& status) {
  std::fprintf(stderr, "faults: %s\n", status.ToString().c_str());
  return 2;
}

int Run(const Arguments& arguments) {
  const auto cases = LoadFaultCases(arguments.cases);
  if (!cases.ok()) return CannotRun(cases.status());
  const auto expected = ExpectedFailures::Read(arguments.expected_failures, arguments.grammar);
  if (!expected.ok()) return CannotRun(expected.status());
  // Two workers: one may be busy with the case while the other answers the bystander.
  const auto server =
      PrivateServer::Start({.binary = arguments.server_bin,
                            .flags = {"--worker-dir", arguments.worker_dir, "--default-grammar",
                                      std::to_string(arguments.grammar), "--workers", "2"}});
  if (!server.ok()) return CannotRun(server.status());
  const auto runner = FaultRunner::Create(server->get(), arguments.grammar);
  if (!runner.ok()) return CannotRun(runner.status());

  int passed = 0;
  int failed_as_expected = 0;
  int wrong = 0;
  std::set<std::string> ran;
  for (const FaultCase& fault : *cases) {
    if (std::find(fault.grammars.begin(), fault.grammars.end(), arguments.grammar) ==
        fault.grammars.end()) {
      continue;
    }
    if (!arguments.only.empty() && fault.id != arguments.only) continue;
    ran.insert(fault.id);
    const std::vector<std::string> failures = (*runner)->Run(fault);
    const std::string* reason = arguments.only.empty() ? expected->Reason(fault.id) : nullptr;
    if (failures.empty() && reason == nullptr) {
      ++passed;
      std::printf("passed           %s\n", fault.id.c_str());
    } else if (failures.empty()) {
      ++wrong;
      std::printf("PASSED           %s: take it off the list of expected failures\n",
                  fault.id.c_str());
    } else if (reason != nullptr) {
      ++failed_as_expected;
      std::printf("expected failure %s (%s)\n", fault.id.c_str(), reason->c_str());
    } else {
      ++wrong;
      std::printf("FAILED           %s\n", fault.id.c_str());
    }
    for (const std::string& failure : failures) {
      std::printf("                   %s\n", failure.substr(0, 400).c_str());
    }
    std::fflush(stdout);
    if (!(*server)->IsRunning()) {
      std::printf("FAILED           the server ended\n%s\n", (*server)->Log().c_str());
      return 1;
    }
  }
  if (arguments.only.empty()) {
    for (const auto& [id, reason] : expected->all()) {
      if (ran.contains(id)) continue;
      ++wrong;
      std::printf("UNKNOWN          %s is on the list of expected failures, but is no case\n",
                  id.c_str());
    }
  }
  std::printf("grammar %u: %d passed, %d failed as expected, %d wrong\n", arguments.grammar, passed,
              failed_as_expected, wrong);
  return wrong == 0 && !ran.empty() ? 0 : 1;
}

bool Parse(int argc, char** argv, Arguments& arguments) {
  const std::map<std::string_view, std::string*> texts = {
      {"--server-bin", &arguments.server_bin},
      {"--worker-dir", &arguments.worker_dir},
      {"--cases", &arguments.cases},
      {"--expected-failures", &arguments.expected_failures},
      {"--only", &arguments.only},
  };
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--grammar") {
      arguments.grammar = static_cast<uint32_t>(std::atoi(argv[i + 1]));
    } else if (const auto text = texts.find(flag); text != texts.end()) {
      *text->second = argv[i + 1];
    } else {
      return false;
    }
  }
  return argc % 2 == 1 && arguments.grammar != 0 && !arguments.server_bin.empty() &&
         !arguments.worker_dir.empty() && !arguments.cases.empty() &&
         !arguments.expected_failures.empty();
}

}  // namespace
}  // namespace pgparsed::conformance

int main(int argc, char** argv) {
  pgparsed::conformance::Arguments arguments;
  if (!pgparsed::conformance::Parse(argc, argv, arguments)) {
    std::fprintf(stderr,
                 "usage: faults --grammar N --server-bin PATH --worker-dir DIR --cases PATH\n"
                 "              --expected-failures PATH [--only ID]\n");
    return 2;
  }
  return pgparsed::conformance::Run(arguments);
}
