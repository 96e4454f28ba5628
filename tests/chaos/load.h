// Clients that ask for all kinds of things and look at every answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "pgparsed/client.h"
#include "sync/mutex.h"
#include "tests/chaos/queries.h"

namespace pgparsed::chaos {

// What came of the calls of all clients.
struct Tally {
  uint64_t calls = 0;
  uint64_t items = 0;             // of batches
  uint64_t wrong_answers = 0;     // not those of the oracle
  uint64_t foreign_failures = 0;  // for another reason than their own
  std::map<std::string, uint64_t>
      own_failures;                   // by reason: bad SQL, own deadline, own cancellation
  std::vector<std::string> examples;  // of what is wrong
};

class Load {
 public:
  // Each thread has a client of its own. Runs until Stop.
  Load(const std::vector<Query>& queries, ClientOptions options, int threads, uint64_t seed);
  ~Load() { Stop(); }

  void Stop();
  Tally tally() const;

 private:
  class Visitor;
  void Run(uint64_t seed);
  void Note(const std::function<void(Tally&)>& change);

  const std::vector<Query>& queries_;
  const ClientOptions options_;
  std::atomic<bool> stop_{false};
  mutable sync::Mutex mutex_;
  Tally tally_;
  std::vector<std::thread> threads_;
};

}  // namespace pgparsed::chaos
