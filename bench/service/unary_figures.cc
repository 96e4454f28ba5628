#include <string>

#include "absl/strings/str_cat.h"
#include "bench/service/calls.h"
#include "bench/service/figures.h"

namespace pgparsed::bench {
namespace {

// The serialized answer to a request: what the echo sends instead.
absl::StatusOr<std::string> AnswerTo(Client& client, const v1::ParseRequest& request) {
  const auto answer = client.Parse(request);
  if (!answer.ok()) return answer.status();
  return answer->SerializeAsString();
}

absl::StatusOr<std::string> AnswerTo(Client& client, const v1::FingerprintRequest& request) {
  const auto answer = client.Fingerprint(request);
  if (!answer.ok()) return answer.status();
  return answer->SerializeAsString();
}

// The same load on the echo and on the service, one after the other.
struct Pair {
  UnaryResult echo;
  UnaryResult service;
};

struct Door {
  const Endpoint& echo;
  const Endpoint& service;
};

using MakeCall = std::function<Call(Client& client)>;
using Measure = std::function<absl::StatusOr<UnaryResult>(const Target&, const Call&)>;

absl::StatusOr<Pair> MeasurePair(const Door& door, const MakeCall& make_call,
                                 const Measure& measure) {
  auto echo = measure(door.echo.target, make_call(*door.echo.client));
  if (!echo.ok()) return echo.status();
  auto service = measure(door.service.target, make_call(*door.service.client));
  if (!service.ok()) return service.status();
  return Pair{*std::move(echo), *std::move(service)};
}

void AddPair(Book& book, const Subject& subject, const Pair& pair) {
  Add(book, subject, pair.service);
  Subject echo = subject;
  echo.variant = "echo of " + subject.variant;
  Add(book, echo, pair.echo);
  book.Add(subject.Value(kOverEcho, "ratio"),
           pair.service.load.per_second() / pair.echo.load.per_second());
}

Measure Closed(int in_flight, Seconds duration) {
  return [=](const Target& target, const Call& call) {
    return MeasureClosed(target, call, in_flight, duration);
  };
}

class UnaryFigure {
 public:
  UnaryFigure(Lab& lab, Book& book, Service& service, Echo& echo)
      : lab_(lab), book_(book), service_(service), echo_(echo) {}

  absl::Status Round() {
    const std::string& query = *lab_.Text("select_384");
    const v1::ParseRequest parse = ParseRequestOf(query);
    const v1::FingerprintRequest fingerprint = FingerprintRequestOf(query);
    const Door unix_socket{echo_.unix_socket(), service_.unix_socket};
    const Door tcp{echo_.tcp(), service_.tcp};
    for (const int in_flight : {1, 4, 16, 64}) {
      const auto pair = Measured(unix_socket, "parse", in_flight, parse, ParseCall);
      if (!pair.ok()) return pair.status();
      if (absl::Status status = Judge(*pair, in_flight, query); !status.ok()) return status;
      const auto other =
          Measured(unix_socket, "fingerprint", in_flight, fingerprint, FingerprintCall);
      if (!other.ok()) return other.status();
      if (in_flight != 1 && in_flight != 16) continue;
      const auto by_tcp = Measured(tcp, "parse by TCP", in_flight, parse, ParseCall);
      if (!by_tcp.ok()) return by_tcp.status();
    }
    return absl::OkStatus();
  }

 private:
  template <typename Request>
  absl::StatusOr<Pair> Measured(const Door& door, const char* what, int in_flight,
                                const Request& request,
                                Call (*make_call)(Client&, const Request&)) {
    const auto answer = AnswerTo(*door.service.client, request);
    if (!answer.ok()) return answer.status();
    if (absl::Status status = echo_.ShareAnswer(*answer); !status.ok()) return status;
    const auto pair = MeasurePair(
        door, [&](Client& client) { return make_call(client, request); },
        Closed(in_flight, lab_.seconds()));
    if (pair.ok()) AddPair(book_, SubjectOf(what, in_flight), *pair);
    return pair;
  }

  absl::Status Judge(const Pair& pair, int in_flight, const std::string& query) {
    if (in_flight == 16) {
      book_.Judge({"unary Parse over the echo, 16 in flight, throughput",
                   SubjectOf("parse", in_flight).Value(kOverEcho, "ratio"), Bar::Kind::kAtLeast,
                   0.85});
    }
    if (in_flight != 1) return absl::OkStatus();
    const auto program = lab_.InProcessOf(lab_.grammar());
    if (!program.ok()) return program.status();
    const auto direct = (*program)->Run("direct_protobuf", query, lab_.seconds() / 2);
    if (!direct.ok()) return direct.status();
    Add(book_, {lab_.grammar_name(), "select_384", "in-process direct_protobuf"}, *direct);
    book_.AddJudged({"p50 of unary Parse beyond echo, raw parse and conversion, 1 in flight, µs",
                     SubjectOf("parse", in_flight).Value("p50_beyond_echo_and_parse", "us"),
                     Bar::Kind::kAtMost, 25},
                    pair.service.load.Quantile(0.5) - pair.echo.load.Quantile(0.5) -
                        1e6 / direct->per_second());
    return absl::OkStatus();
  }

  Subject SubjectOf(const char* what, int in_flight) const {
    return {lab_.grammar_name(), "select_384", absl::StrCat(what, ", ", in_flight)};
  }

  Lab& lab_;
  Book& book_;
  Service& service_;
  Echo& echo_;
};

// A query whose tree is 1 MiB of protobuf, or a little less.
absl::StatusOr<std::string> QueryOfOneMib(Client& client) {
  constexpr size_t kWanted = 1 << 20;
  size_t columns = 1000;
  for (int tries = 0; tries < 4; ++tries) {
    std::string query = "SELECT c0";
    for (size_t i = 1; i < columns; ++i) absl::StrAppend(&query, ", c", i);
    const auto tree = client.ParseProtobuf(query);
    if (!tree.ok()) return tree.status();
    if (tree->size() <= kWanted && tree->size() > kWanted - kWanted / 64) return query;
    columns = columns * kWanted / tree->size() * 127 / 128;
  }
  return absl::InternalError("no query has a tree of 1 MiB");
}

}  // namespace

absl::Status MakeUnary(Lab& lab, Book& book) {
  const auto service = lab.TheService();
  if (!service.ok()) return service.status();
  const auto echo = lab.TheEcho();
  if (!echo.ok()) return echo.status();
  UnaryFigure figure(lab, book, **service, **echo);
  for (int round = 0; round < lab.options().rounds; ++round) {
    if (absl::Status status = figure.Round(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status MakeSizes(Lab& lab, Book& book) {
  struct Format {
    const char* name;
    v1::TreeFormat format;
  };
  constexpr Format kFormats[] = {{"protobuf", v1::TREE_FORMAT_PROTOBUF},
                                 {"json", v1::TREE_FORMAT_JSON},
                                 {"columnar", v1::TREE_FORMAT_COLUMNAR}};
  const auto service = lab.TheService();
  if (!service.ok()) return service.status();
  const auto echo = lab.TheEcho();
  if (!echo.ok()) return echo.status();
  const Door door{(*echo)->unix_socket(), (*service)->unix_socket};
  for (int round = 0; round < lab.options().rounds; ++round) {
    for (const char* input :
         {"select_1", "select_46", "select_384", "large_select", "reference_job"}) {
      const std::string* const query = lab.Text(input);
      if (query == nullptr) continue;
      const bool is_job = input == std::string_view("reference_job");
      const int in_flight = is_job ? 1 : 4;
      for (const Format& format : kFormats) {
        const v1::ParseRequest request = ParseRequestOf(*query, format.format);
        const auto answer = AnswerTo(*door.service.client, request);
        if (!answer.ok()) return answer.status();
        if (absl::Status status = (*echo)->ShareAnswer(*answer); !status.ok()) return status;
        const auto pair = MeasurePair(
            door, [&](Client& client) { return ParseCall(client, request); },
            Closed(in_flight, lab.seconds() / 2));
        if (!pair.ok()) return pair.status();
        const Subject subject{lab.grammar_name(), input,
                              absl::StrCat("parse ", format.name, ", ", in_flight)};
        AddPair(book, subject, *pair);
        if (round == 0) {
          book.Add(subject.Value("answer", "bytes"), static_cast<double>(answer->size()));
        }
      }
    }
  }
  return absl::OkStatus();
}

absl::Status MakeOpenLoop(Lab& lab, Book& book) {
  const auto service = lab.TheService();
  if (!service.ok()) return service.status();
  const auto echo = lab.TheEcho();
  if (!echo.ok()) return echo.status();
  const v1::ParseRequest request = ParseRequestOf(*lab.Text("select_384"));
  const Door door{(*echo)->unix_socket(), (*service)->unix_socket};
  const auto answer = AnswerTo(*door.service.client, request);
  if (!answer.ok()) return answer.status();
  if (absl::Status status = (*echo)->ShareAnswer(*answer); !status.ok()) return status;
  for (int round = 0; round < lab.options().rounds; ++round) {
    const auto pair = MeasurePair(
        door, [&](Client& client) { return ParseCall(client, request); },
        [&](const Target& target, const Call& call) {
          return MeasureOpen(target, call, lab.options().rate, lab.seconds() * 2);
        });
    if (!pair.ok()) return pair.status();
    AddPair(book, {lab.grammar_name(), "select_384", "parse, open loop"}, *pair);
  }
  return absl::OkStatus();
}

absl::Status MakeOneMib(Lab& lab, Book& book) {
  const auto service = lab.TheService();
  if (!service.ok()) return service.status();
  const auto echo = lab.TheEcho();
  if (!echo.ok()) return echo.status();
  const Door door{(*echo)->unix_socket(), (*service)->unix_socket};
  const auto query = QueryOfOneMib(*door.service.client);
  if (!query.ok()) return query.status();
  const v1::ParseRequest request = ParseRequestOf(*query);
  const auto answer = AnswerTo(*door.service.client, request);
  if (!answer.ok()) return answer.status();
  const Measure measure = Closed(4, lab.seconds());
  const MakeCall make_call = [&](Client& client) { return ParseCall(client, request); };
  for (int round = 0; round < lab.options().rounds; ++round) {
    if (absl::Status status = (*echo)->ShareAnswer(*answer); !status.ok()) return status;
    const auto shared = measure(door.echo.target, make_call(*door.echo.client));
    if (!shared.ok()) return shared.status();
    if (absl::Status status = (*echo)->CopyAnswer(*answer); !status.ok()) return status;
    const auto pair = MeasurePair(door, make_call, measure);
    if (!pair.ok()) return pair.status();
    const Subject subject{lab.grammar_name(), "1 MiB", "parse, 4"};
    Add(book, subject, pair->service);
    Add(book, {lab.grammar_name(), "1 MiB", "echo that copies, 4"}, pair->echo);
    Add(book, {lab.grammar_name(), "1 MiB", "echo that shares, 4"}, *shared);
    const auto front = [](const UnaryResult& result) {
      return result.cpu_microseconds(result.cpu.front);
    };
    book.Add(subject.Value("front_cpu_over_sharing_echo", "ratio"),
             front(pair->service) / front(*shared));
    book.AddJudged({"answers of 1 MiB: front CPU over an echo that copies",
                    subject.Value("front_cpu_over_copying_echo", "ratio"), Bar::Kind::kAtMost, 0.6},
                   front(pair->service) / front(pair->echo));
  }
  return absl::OkStatus();
}

}  // namespace pgparsed::bench
