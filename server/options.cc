#include "options.h"

#include <grp.h>
#include <pwd.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "grpc/listen_address.h"
#include "text/views.h"

namespace pgparsed {
namespace {

constexpr char kDefaultListen[] = "127.0.0.1:50051";

// Beside this executable: an installation has its workers there.
std::string DefaultWorkerDir() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string(".") : self.parent_path().string();
}

// "PGPARSED_MAX_QUERY_BYTES" for "--max-query-bytes".
std::string EnvironmentName(std::string_view flag) {
  std::string name = "PGPARSED_";
  for (const char c : flag.substr(2)) {
    name.push_back(c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c))));
  }
  return name;
}

// Adds an option with its environment variable and its default as people write it.
CLI::Option* Add(CLI::App& app, const std::string& flag, std::string text,
                 std::function<bool(const std::string&)> set, const std::string& type,
                 const std::string& default_text, const std::string& what_is_valid) {
  CLI::Option* option = app.add_option_function<std::string>(
      flag,
      [flag, set = std::move(set), what_is_valid](const std::string& value) {
        if (!set(value)) {
          throw CLI::ValidationError(flag, absl::StrCat("'", value, "' is not ", what_is_valid));
        }
      },
      std::move(text));
  option->type_name(type);
  option->envname(EnvironmentName(flag));
  if (!default_text.empty()) option->default_str(default_text);
  return option;
}

void AddDuration(CLI::App& app, const std::string& flag, const std::string& text,
                 absl::Duration& value) {
  Add(
      app, flag, text,
      [&value](const std::string& input) {
        return absl::ParseDuration(input, &value) && value >= absl::ZeroDuration();
      },
      "DURATION", absl::FormatDuration(value), "a duration; write it like 500ms, 10s or 2m");
}

std::string FormatBytes(uint64_t bytes) {
  if (bytes % (1u << 30) == 0 && bytes > 0) return absl::StrCat(bytes >> 30, "GiB");
  if (bytes % (1u << 20) == 0 && bytes > 0) return absl::StrCat(bytes >> 20, "MiB");
  if (bytes % (1u << 10) == 0 && bytes > 0) return absl::StrCat(bytes >> 10, "KiB");
  return absl::StrCat(bytes);
}

// "16MiB", "64k", "1048576": powers of 1024.
bool ParseBytes(std::string_view input, uint64_t min, uint64_t max, uint64_t& value) {
  const size_t digits = std::min(input.find_first_not_of("0123456789"), input.size());
  uint64_t number = 0;
  if (!absl::SimpleAtoi(text::ToAbsl(input.substr(0, digits)), &number)) return false;
  std::string unit(input.substr(digits));
  for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  int shift = 0;
  if (unit == "k" || unit == "kb" || unit == "kib")
    shift = 10;
  else if (unit == "m" || unit == "mb" || unit == "mib")
    shift = 20;
  else if (unit == "g" || unit == "gb" || unit == "gib")
    shift = 30;
  else if (!unit.empty() && unit != "b")
    return false;
  if (number > (max >> shift) || (number << shift) < min) return false;
  value = number << shift;
  return true;
}

void AddBytes(CLI::App& app, const std::string& flag, const std::string& text, uint64_t min,
              uint64_t max, uint64_t& value, const std::string& default_text = "") {
  Add(
      app, flag, text,
      [&value, min, max](const std::string& input) { return ParseBytes(input, min, max, value); },
      "SIZE", default_text.empty() ? FormatBytes(value) : default_text,
      absl::StrCat("a size from ", FormatBytes(min), " to ", FormatBytes(max),
                   "; write it like 64KiB or 16MiB"));
}

void AddNumber(CLI::App& app, const std::string& flag, const std::string& text, uint32_t min,
               uint32_t max, uint32_t& value, const std::string& default_text = "") {
  Add(
      app, flag, text,
      [&value, min, max](const std::string& input) {
        return absl::SimpleAtoi(input, &value) && value >= min && value <= max;
      },
      "NUMBER", default_text.empty() ? absl::StrCat(value) : default_text,
      absl::StrCat("a number from ", min, " to ", max));
}

// "user", "user:group" or ":group", by names or numbers. Returns what is wrong.
std::string ParseOwner(const std::string& text, grpc_door::ServerOptions& options) {
  const size_t colon = text.find(':');
  const std::string user = text.substr(0, colon);
  const std::string group = colon == std::string::npos ? "" : text.substr(colon + 1);
  uint32_t number = 0;
  if (!user.empty()) {
    const passwd* entry = getpwnam(user.c_str());
    if (entry != nullptr) {
      options.unix_user = entry->pw_uid;
    } else if (absl::SimpleAtoi(user, &number)) {
      options.unix_user = number;
    } else {
      return absl::StrCat("there is no user '", user, "'");
    }
  }
  if (!group.empty()) {
    const ::group* entry = getgrnam(group.c_str());
    if (entry != nullptr) {
      options.unix_group = entry->gr_gid;
    } else if (absl::SimpleAtoi(group, &number)) {
      options.unix_group = number;
    } else {
      return absl::StrCat("there is no group '", group, "'");
    }
  }
  return "";
}

// "jemalloc", or "17=jemalloc" for one grammar.
bool ParseAllocator(std::string_view text, pool::PoolOptions& options) {
  const size_t equals = text.find('=');
  const std::string_view name = equals == std::string_view::npos ? text : text.substr(equals + 1);
  if (name != "system" && name != "jemalloc" && name != "mimalloc") return false;
  if (equals == std::string_view::npos) {
    options.allocator = name;
    return true;
  }
  uint32_t major = 0;
  if (!absl::SimpleAtoi(text::ToAbsl(text.substr(0, equals)), &major)) return false;
  options.allocators[major] = name;
  return true;
}

// The command line, with an argument in front for each option that the environment gives and the
// command line does not. CLI11 itself would let the file win over the environment. An empty
// variable counts as none.
std::vector<std::string> WithEnvironment(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::vector<std::string> from_environment;
  for (const CLI::Option* option : app.get_options()) {
    const std::string& variable = option->get_envname();
    const char* value = variable.empty() ? nullptr : std::getenv(variable.c_str());
    if (value == nullptr || *value == '\0') continue;
    const std::string flag = absl::StrCat("--", option->get_lnames().front());
    const bool given =
        std::any_of(arguments.begin(), arguments.end(), [&flag](const std::string& argument) {
          return argument == flag || absl::StartsWith(argument, absl::StrCat(flag, "="));
        });
    if (!given) from_environment.push_back(absl::StrCat(flag, "=", value));
  }
  arguments.insert(arguments.begin(), from_environment.begin(), from_environment.end());
  std::reverse(arguments.begin(), arguments.end());  // as CLI::App::parse takes them
  return arguments;
}

bool ParseMode(const std::string& input, uint32_t& mode) {
  if (input.empty() || input.size() > 4) return false;
  mode = 0;
  for (const char c : input) {
    if (c < '0' || c > '7') return false;
    mode = mode * 8 + static_cast<uint32_t>(c - '0');
  }
  return mode <= 0777;
}

}  // namespace

ParsedOptions ParseOptions(int argc, char** argv) {
  Options options;
  options.pool.worker_dir = DefaultWorkerDir();
  std::vector<std::string> listen = {kDefaultListen};
  bool allow_plaintext = false;

  CLI::App app(
      "pgparsed: PostgreSQL's own parser as a service, over gRPC.\n"
      "Every option can also be given as an environment variable (PGPARSED_…) or in a file.\n"
      "Flags win over the environment, the environment wins over the file.");
  app.name("pgparsed");
  app.set_version_flag("--version", std::string("pgparsed ") + PGPARSED_VERSION);
  app.set_config("--config", "", "Read options from this file (TOML: name = value)")
      ->envname("PGPARSED_CONFIG")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.get_formatter()->column_width(38);

  app.add_option(
         "--listen", listen,
         "Listen here: 127.0.0.1:50051, [::1]:50051 or unix:/path; several times, or several "
         "with commas between")
      ->envname("PGPARSED_LISTEN")
      ->delimiter(',')
      ->type_name("ADDRESS")
      ->capture_default_str()
      ->group("Listening");
  app.add_flag("--allow-plaintext", allow_plaintext,
               "Allow addresses that are not loopback, though nothing is encrypted")
      ->envname("PGPARSED_ALLOW_PLAINTEXT")
      ->group("Listening");
  Add(
      app, "--unix-mode", "Permission bits of Unix sockets",
      [&](const std::string& input) { return ParseMode(input, options.server.unix_mode); }, "OCTAL",
      "660", "octal permission bits; write them like 660")
      ->group("Listening");
  std::string unix_owner;
  app.add_option(
         "--unix-owner", unix_owner,
         "Who Unix sockets belong to, by names or numbers: pgparsed, pgparsed:apps or :apps")
      ->envname("PGPARSED_UNIX_OWNER")
      ->type_name("USER[:GROUP]")
      ->group("Listening");
  grpc_door::TlsOptions tls;
  const auto tls_file = [&](const char* flag, const char* variable, const char* text,
                            std::string& file) {
    app.add_option(flag, file, text)->envname(variable)->type_name("FILE")->group("TLS");
  };
  tls_file("--tls-cert", "PGPARSED_TLS_CERT",
           "The server's certificate and chain (PEM): TCP listeners speak TLS, 1.2 and later",
           tls.cert_file);
  tls_file("--tls-key", "PGPARSED_TLS_KEY", "Its private key (PEM, without a passphrase)",
           tls.key_file);
  tls_file("--tls-client-ca", "PGPARSED_TLS_CLIENT_CA",
           "Who signs clients' certificates (PEM): every client must have one then",
           tls.client_ca_file);
  AddDuration(app, "--tls-refresh", "How often these files are looked at for a change",
              tls.refresh);
  app.get_option("--tls-refresh")->group("TLS");
  std::vector<std::string> admin_listen;
  app.add_option(
         "--admin-listen", admin_listen,
         "Offer AdminService here, to everyone who can connect; the same kinds of addresses")
      ->envname("PGPARSED_ADMIN_LISTEN")
      ->delimiter(',')
      ->type_name("ADDRESS")
      ->group("Listening");

  std::string http_listen;
  app.add_option("--http-listen", http_listen,
                 "Serve /metrics (Prometheus), /livez and /readyz over HTTP here, for example "
                 "127.0.0.1:9090")
      ->envname("PGPARSED_HTTP_LISTEN")
      ->type_name("ADDRESS")
      ->group("Listening");

  app.add_option("--worker-dir", options.pool.worker_dir,
                 "Folder with the worker executables, pgparsed-worker-<major>")
      ->envname("PGPARSED_WORKER_DIR")
      ->type_name("FOLDER")
      ->default_str("the folder of pgparsed")
      ->group("Workers");
  AddNumber(app, "--default-grammar", "Major version that answers requests which name none", 0, 999,
            options.pool.default_grammar, "the newest");
  AddNumber(app, "--workers", "Worker processes of a grammar; 0: one for each CPU", 0, 1024,
            options.pool.workers, "one for each CPU");
  AddDuration(app, "--grammar-idle-timeout",
              "Stop a grammar other than the default after so long without a request",
              options.pool.grammar_idle_timeout);
  AddBytes(app, "--worker-memory-limit",
           "Most memory of one worker: a request that needs more is PARSER_MEMORY_LIMIT", 64u << 20,
           1ull << 40, options.pool.worker_memory_limit,
           "2GiB, or its share of the cgroup's limit");
  AddBytes(app, "--worker-memory-budget",
           "What a worker without a request may keep: one that has more is replaced", 16u << 20,
           1ull << 40, options.pool.worker_memory_budget,
           "64MiB, or its share of the cgroup's limit");
  std::vector<std::string> allocators;
  app.add_option("--allocator", allocators,
                 "The allocator of workers: system, jemalloc or mimalloc; 17=jemalloc for one "
                 "grammar; several with commas between")
      ->envname("PGPARSED_ALLOCATOR")
      ->delimiter(',')
      ->type_name("[GRAMMAR=]NAME")
      ->default_str(options.pool.allocator);
  for (const char* flag : {"--default-grammar", "--workers", "--grammar-idle-timeout",
                           "--worker-memory-limit", "--worker-memory-budget", "--allocator"}) {
    app.get_option(flag)->group("Workers");
  }

  AddBytes(app, "--max-query-bytes", "Longest query", 1u << 10, 1u << 30,
           options.limits.max_query_bytes);
  AddBytes(app, "--max-unary-result-bytes", "Largest result of a unary call", 1u << 10, 1u << 30,
           options.limits.max_unary_result_bytes);
  AddBytes(app, "--max-chunked-protobuf-bytes", "Largest protobuf tree of ParseChunked", 1u << 20,
           1u << 30, options.limits.max_chunked_protobuf_bytes);
  AddNumber(app, "--max-batch-queries", "Queries in a chunk of Batch", 1, 1'000'000,
            options.limits.max_batch_queries);
  AddBytes(app, "--max-batch-bytes", "Bytes of a chunk of a stream", 1u << 10, 256u << 20,
           options.limits.max_batch_bytes);
  AddNumber(app, "--max-chunks-in-flight",
            "Chunks of a stream that are worked on or not yet sent; 0: two for each worker", 0,
            1024, options.limits.max_chunks_in_flight, "two for each worker");
  AddDuration(app, "--max-stall",
              "Longest wait for a client that takes nothing of a ParseChunked answer",
              options.pool.max_stall);
  AddDuration(app, "--max-job-time", "Longest time of one request in a worker",
              options.pool.max_job_time);
  AddNumber(app, "--max-queue-length", "Requests of a grammar that may wait for a worker", 1,
            1'000'000, options.pool.max_queue_length);
  AddDuration(app, "--max-queue-time", "Longest wait for a worker", options.pool.max_queue_time);
  AddNumber(app, "--max-concurrent-streams", "Calls of one connection at a time", 1, 1'000'000,
            options.server.max_concurrent_streams);
  AddBytes(app, "--max-rpc-memory", "Memory of gRPC for requests and answers", 64u << 20,
           1ull << 40, options.server.max_rpc_memory);
  AddDuration(app, "--max-connection-age",
              "Close a connection after so long, so that clients find new servers",
              options.server.max_connection_age);
  AddDuration(app, "--max-connection-age-grace", "How long its calls may then go on",
              options.server.max_connection_age_grace);
  AddDuration(app, "--max-connection-idle", "Close a connection without calls after so long",
              options.server.max_connection_idle);
  AddDuration(app, "--keepalive-interval", "Ping a connection that is silent for so long",
              options.server.keepalive_interval);
  AddDuration(app, "--keepalive-timeout", "And close it when no answer comes for so long",
              options.server.keepalive_timeout);
  for (const char* flag : {"--max-concurrent-streams", "--max-rpc-memory", "--max-connection-age",
                           "--max-connection-age-grace", "--max-connection-idle",
                           "--keepalive-interval", "--keepalive-timeout"}) {
    app.get_option(flag)->group("Connections");
  }
  for (const char* flag :
       {"--max-query-bytes", "--max-unary-result-bytes", "--max-chunked-protobuf-bytes",
        "--max-batch-queries", "--max-batch-bytes", "--max-chunks-in-flight", "--max-stall",
        "--max-job-time", "--max-queue-length", "--max-queue-time"}) {
    app.get_option(flag)->group("Limits");
  }

  AddDuration(app, "--drain-delay",
              "After SIGTERM: health says NOT_SERVING for so long before calls are refused",
              options.drain_delay);
  AddDuration(app, "--drain-timeout", "After that: how long calls in flight may take",
              options.drain_timeout);
  app.add_flag("--exit-with-parent", options.exit_with_parent,
               "End with the process that started this one")
      ->envname("PGPARSED_EXIT_WITH_PARENT");
  app.add_option("--log-format", options.log.format, "How log lines look")
      ->envname("PGPARSED_LOG_FORMAT")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.add_option("--log-level", options.log.level, "What is logged")
      ->envname("PGPARSED_LOG_LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}))
      ->capture_default_str();
  for (const char* flag :
       {"--drain-delay", "--drain-timeout", "--exit-with-parent", "--log-format", "--log-level"}) {
    app.get_option(flag)->group("Operation");
  }

  const auto refuse = [](std::string_view message) {
    std::cerr << "pgparsed: " << message << "\n";
    return ParsedOptions{.options = std::nullopt, .exit_code = 2};
  };
  try {
    app.parse(WithEnvironment(app, argc, argv));
  } catch (const CLI::CallForHelp& call) {
    return {std::nullopt, app.exit(call)};
  } catch (const CLI::CallForVersion& call) {
    return {std::nullopt, app.exit(call)};
  } catch (const CLI::ConfigError& error) {
    std::string what = error.what();
    if (const size_t prefix = what.find("parse "); prefix != std::string::npos) {
      what.erase(0, prefix + 6);
    }
    return refuse(
        absl::StrCat("--config: '", what,
                     "' in the file is no option of pgparsed; write name = value with the "
                     "names of pgparsed --help"));
  } catch (const CLI::ParseError& error) {
    return refuse(absl::StrCat(error.what(), " (pgparsed --help lists the options)"));
  }

  if (!tls.cert_file.empty() || !tls.key_file.empty() || !tls.client_ca_file.empty()) {
    if (tls.cert_file.empty()) return refuse("--tls-key and --tls-client-ca need --tls-cert");
    if (tls.key_file.empty()) return refuse("--tls-cert needs --tls-key");
    options.server.tls = tls;
  }
  if (!unix_owner.empty()) {
    if (const std::string wrong = ParseOwner(unix_owner, options.server); !wrong.empty()) {
      return refuse(absl::StrCat("--unix-owner=", unix_owner, ": ", wrong));
    }
  }
  const auto add_listeners = [&](std::string_view flag, const std::vector<std::string>& texts,
                                 std::vector<grpc_door::ListenAddress>& addresses) -> std::string {
    for (const std::string& text : texts) {
      absl::StatusOr<grpc_door::ListenAddress> address = grpc_door::ParseListenAddress(text);
      if (!address.ok()) return std::string(address.status().message());
      const bool encrypted = options.server.tls.has_value() && !address->is_unix();
      if (!address->is_loopback() && !encrypted && !allow_plaintext) {
        return absl::StrCat(text::ToAbsl(flag), "=", text,
                            " is open to the network and nothing would be encrypted: give "
                            "--tls-cert, listen on loopback or a Unix socket, or say "
                            "--allow-plaintext");
      }
      addresses.push_back(*std::move(address));
    }
    return std::string();
  };
  for (const std::string& refusal :
       {add_listeners("--listen", listen, options.server.listen),
        add_listeners("--admin-listen", admin_listen, options.admin.listen)}) {
    if (!refusal.empty()) return refuse(refusal);
  }
  const std::vector<grpc_door::ListenAddress> admin = std::move(options.admin.listen);
  options.admin = options.server;
  options.admin.listen = admin;
  if (!http_listen.empty()) {
    absl::StatusOr<grpc_door::ListenAddress> address = grpc_door::ParseListenAddress(http_listen);
    if (!address.ok()) return refuse(text::ToStd(address.status().message()));
    if (address->is_unix()) return refuse("--http-listen takes host:port, no Unix socket");
    if (!address->is_loopback() && !allow_plaintext) {
      return refuse(
          absl::StrCat("--http-listen=", http_listen,
                       " is open to the network and nothing would be encrypted: listen on "
                       "loopback, or say --allow-plaintext"));
    }
    options.http = {.host = address->host, .port = address->port};
  }
  for (const std::string& text : allocators) {
    if (!ParseAllocator(text, options.pool)) {
      return refuse(absl::StrCat("--allocator=", text,
                                 " is not system, jemalloc or mimalloc, nor one of these behind a "
                                 "grammar, like 17=jemalloc"));
    }
  }
  if (options.pool.worker_memory_limit != 0 &&
      options.pool.worker_memory_budget > options.pool.worker_memory_limit) {
    return refuse("--worker-memory-budget is more than --worker-memory-limit");
  }
  if (options.pool.max_job_time < absl::Milliseconds(1)) {
    return refuse("--max-job-time must be at least 1ms");
  }
  options.limits.max_job_ms =
      static_cast<uint64_t>(absl::ToInt64Milliseconds(options.pool.max_job_time));
  options.pool.max_text_bytes = options.limits.max_query_bytes + service::kMaxCommentBytes;
  options.pool.max_answer_bytes =
      std::max(options.limits.max_unary_result_bytes, options.limits.max_chunked_protobuf_bytes) +
      service::kAnswerOverheadBytes;
  return {std::move(options), 0};
}

}  // namespace pgparsed
