#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/diagnostic.h"
#include "cli/item_results.h"
#include "cli/json_output.h"
#include "cli/progress.h"
#include "cli/stream_commands.h"
#include "cli/text_window.h"
#include "cli/units.h"
#include "cli/utf8_display.h"
#include "pgparsed/errors.h"

namespace pgparsed::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kPieceBytes = 256u << 10;
// Beyond what is under way between here and the server's answers: the longest statement, and the
// chunks that wait.
constexpr size_t kWindowBytes = 64u << 20;
// How far an excerpt looks around an error, and for the beginning of its line.
constexpr size_t kExcerptBytes = 4096;
constexpr size_t kLineReach = 1u << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// How often a file is gone on with when no answer came in between.
constexpr int kMostTries = 8;
constexpr std::chrono::milliseconds kFirstPause{100};
constexpr std::chrono::milliseconds kLongestPause{2'000};

struct Totals {
  uint64_t statements = 0;
  uint64_t failed = 0;
  uint64_t meta_commands = 0;
  uint64_t copies = 0;
  uint64_t copy_rows = 0;
  uint64_t incomplete = 0;  // files
  std::optional<ExitCode> first_error;
};

// A script that is read once or, if it is a file, again from a place in it.
class ScriptFile {
 public:
  static absl::StatusOr<std::unique_ptr<ScriptFile>> Open(const std::string& path) {
    if (path == "-") {
      return std::unique_ptr<ScriptFile>(new ScriptFile(STDIN_FILENO, "<stdin>"));
    }
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return Bad(path);
    return std::unique_ptr<ScriptFile>(new ScriptFile(fd, path));
  }

  ~ScriptFile() {
    if (fd_ != STDIN_FILENO) ::close(fd_);
  }
  ScriptFile(const ScriptFile&) = delete;
  ScriptFile& operator=(const ScriptFile&) = delete;

  const std::string& label() const { return label_; }
  uint64_t size() const { return size_; }
  bool seekable() const { return base_ >= 0; }

  absl::Status Seek(uint64_t offset) {
    if (::lseek(fd_, base_ + static_cast<off_t>(offset), SEEK_SET) < 0) return Bad(label_);
    return absl::OkStatus();
  }

  // The next bytes; none: the end.
  absl::Status Read(std::string& bytes, size_t most) {
    bytes.resize(most);
    ssize_t got;
    do {
      got = ::read(fd_, bytes.data(), most);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return Bad(label_);
    bytes.resize(static_cast<size_t>(got));
    return absl::OkStatus();
  }

 private:
  ScriptFile(int fd, std::string label) : fd_(fd), label_(std::move(label)) {
    struct stat status {};
    const bool file = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    base_ = file ? ::lseek(fd, 0, SEEK_CUR) : -1;
    if (base_ >= 0) size_ = static_cast<uint64_t>(std::max<off_t>(status.st_size - base_, 0));
  }

  static absl::Status Bad(const std::string& label) {
    return MakeError(Reason::kInvalidRequest, absl::StrCat(label, ": ", std::strerror(errno)));
  }

  const int fd_;
  const std::string label_;
  off_t base_ = -1;    // where the script begins in the file; -1: no file
  uint64_t size_ = 0;  // 0: not known
};

// Positions between the beginning of a line and a place in it.
uint64_t UnitsOf(std::string_view text, v1::PositionEncoding encoding) {
  if (encoding != v1::POSITION_ENCODING_UTF16 && encoding != v1::POSITION_ENCODING_UTF32) {
    return text.size();
  }
  uint64_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) continue;
    units += byte >= 0xF0 && encoding == v1::POSITION_ENCODING_UTF16 ? 2 : 1;
  }
  return units;
}

// One file. The source runs on another thread than the sink; the window is all that they share.
class ScriptRun {
 public:
  ScriptRun(const Arguments& arguments, ScriptFile& file, size_t chunk_bytes, Output& out,
            Totals& totals)
      : arguments_(arguments),
        file_(file),
        chunk_bytes_(chunk_bytes),
        out_(out),
        error_(STDERR_FILENO),
        totals_(totals),
        progress_(arguments.quiet
                      ? Progress(file.label(), "statements", 0, std::nullopt)
                      : Progress::OnStandardError(file.label(), "statements", file.size())),
        window_(kWindowBytes) {
    style_.colour = error_.colour();
    style_.width = std::min(error_.width(), 160);
  }

  absl::Status Run(Client& client) {
    if (absl::Status status = SkipByteOrderMark(); !status.ok()) return status;
    int tries = 0;
    while (true) {
      v1::ParseScriptRequest::Start start;
      *start.mutable_options() = StreamOptionsOf(arguments_);
      start.set_start_offset(place_.offset);
      start.set_start_line(place_.line);
      if (place_.standard_conforming_strings) {
        start.set_standard_conforming_strings(*place_.standard_conforming_strings);
      }
      const uint64_t began_at = place_.offset;
      const absl::Status status = client.ParseScript(
          start, [this](std::string& bytes) { return Next(bytes); },
          [this](const v1::ParseScriptResponse& response) { return Take(response); }, &place_);
      progress_.Erase();
      if (place_.offset > began_at) tries = 0;
      const Reason reason = ReasonOf(status);
      const bool lost = reason == Reason::kUnavailable || reason == Reason::kDraining ||
                        reason == Reason::kOverloaded;
      if (!lost || !file_.seekable() || ++tries >= kMostTries) return status;
      Say(absl::StrCat("pgparse: ", file_.label(), ": the server is gone; going on at byte ",
                       place_.offset, ", line ", place_.line, "\n"));
      std::this_thread::sleep_for(std::min(kFirstPause * (1 << (tries - 1)), kLongestPause));
      if (absl::Status sought = file_.Seek(place_.offset); !sought.ok()) return sought;
      pending_.clear();
      window_.Restart(place_.offset);
    }
  }

 private:
  // psql skips it too.
  absl::Status SkipByteOrderMark() {
    while (pending_.size() < kByteOrderMark.size()) {
      std::string more;
      if (absl::Status status = file_.Read(more, chunk_bytes_); !status.ok()) return status;
      if (more.empty()) break;
      pending_ += more;
    }
    if (!pending_.starts_with(kByteOrderMark)) return absl::OkStatus();
    pending_.erase(0, kByteOrderMark.size());
    place_.offset = kByteOrderMark.size();
    window_.Restart(place_.offset);
    return absl::OkStatus();
  }

  // The source.
  absl::StatusOr<bool> Next(std::string& bytes) {
    if (!pending_.empty()) {
      bytes = std::exchange(pending_, {});
    } else if (absl::Status status = file_.Read(bytes, chunk_bytes_); !status.ok()) {
      return status;
    }
    window_.Append(bytes);
    return !bytes.empty();
  }

  // The sink.
  absl::Status Take(const v1::ParseScriptResponse& response) {
    ItemErrors errors(response.results());
    int statement = 0;
    for (int piece = 0; piece < response.offset_size(); ++piece) {
      if (piece >= response.length_size() || piece >= response.line_size() ||
          piece >= response.kind_size()) {
        return MakeError(Reason::kInternal, "the server's answer is malformed: short columns");
      }
      const bool is_statement = statement < response.statement_piece_size() &&
                                response.statement_piece(statement) == static_cast<uint32_t>(piece);
      std::vector<v1::OperationError> faults;
      if (is_statement) faults = errors.Of(static_cast<uint32_t>(statement));
      Count(response, piece, faults);
      if (!Write(response, piece, is_statement ? statement : -1, faults)) return OutputGone();
      statement += is_statement;
    }
    totals_.incomplete += response.incomplete();
    progress_.Update(response.resume_offset(), totals_.statements);
    return absl::OkStatus();
  }

  void Count(const v1::ParseScriptResponse& response, int piece,
             const std::vector<v1::OperationError>& faults) {
    switch (response.kind(piece)) {
      case v1::PIECE_KIND_STATEMENT:
        ++totals_.statements;
        break;
      case v1::PIECE_KIND_META_COMMAND:
        ++totals_.meta_commands;
        break;
      case v1::PIECE_KIND_COPY_DATA:
        ++totals_.copies;
        if (piece < response.copy_rows_size()) totals_.copy_rows += response.copy_rows(piece);
        break;
      default:
        break;
    }
    if (faults.empty()) return;
    ++totals_.failed;
    if (!totals_.first_error) totals_.first_error = ExitCodeOf(StatusOf(faults.front()));
  }

  // `statement`: the index of the results, or -1. False: the output is gone.
  bool Write(const v1::ParseScriptResponse& response, int piece, int statement,
             const std::vector<v1::OperationError>& faults) {
    const uint64_t offset = response.offset(piece);
    const uint64_t length = response.length(piece);
    const uint64_t line = response.line(piece);
    const v1::PieceKind kind = response.kind(piece);
    if (arguments_.json) {
      if (kind == v1::PIECE_KIND_BETWEEN) return true;
      return WriteJson(response, piece, statement, faults);
    }
    if (!arguments_.check && kind != v1::PIECE_KIND_BETWEEN) {
      const bool is_data = kind == v1::PIECE_KIND_COPY_DATA;
      const int width = std::max(out_.width() - kTextColumn, 20);
      std::string text;
      if (is_data) {
        text = absl::StrCat(piece < response.copy_rows_size() ? response.copy_rows(piece) : 0,
                            " rows");
      } else {
        text =
            PrintableLine(window_.Read(offset, offset + std::min<uint64_t>(length, 4096)), width);
      }
      out_.Write(absl::StrFormat("%12d %8d  %-12s  %s\n", offset, line, PieceName(kind), text));
      for (const v1::Operation operation : arguments_.operations) {
        if (statement < 0 || operation == v1::OPERATION_CHECK || Failed(faults, operation))
          continue;
        std::string result;
        AppendEscaped(result, ResultText(response.results(), statement, operation));
        out_.Write(
            absl::StrFormat("%*s%s: %s\n", kTextColumn, "", OperationName(operation), result));
      }
    }
    for (const v1::OperationError& fault : faults) WriteError(offset, line, StatusOf(fault));
    return out_.Write({});
  }

  bool WriteJson(const v1::ParseScriptResponse& response, int piece, int statement,
                 const std::vector<v1::OperationError>& faults) {
    const uint64_t offset = response.offset(piece);
    const uint64_t length = response.length(piece);
    const bool is_data = response.kind(piece) == v1::PIECE_KIND_COPY_DATA;
    // The data of a COPY may be gigabytes long.
    const std::string text = is_data ? std::string() : window_.Read(offset, offset + length);
    static const std::vector<v1::Operation> kNone;
    StreamItem item{{},
                    response.results(),
                    std::max(statement, 0),
                    statement < 0 ? kNone : arguments_.operations,
                    faults,
                    text,
                    arguments_.positions};
    if (arguments_.files.size() > 1) item.head.emplace_back("file", JsonText(file_.label()));
    item.head.emplace_back("offset", std::to_string(offset));
    item.head.emplace_back("length", std::to_string(length));
    item.head.emplace_back("line", std::to_string(response.line(piece)));
    item.head.emplace_back("kind", JsonText(PieceName(response.kind(piece))));
    if (is_data && piece < response.copy_rows_size()) {
      item.head.emplace_back("copy_rows", std::to_string(response.copy_rows(piece)));
    }
    if (!is_data) item.head.emplace_back("text", JsonText(text));
    out_.Write(ToJson(std::move(item)));
    return out_.Write("\n");
  }

  // As a compiler does. The place in the error is one in the statement.
  void WriteError(uint64_t offset, uint64_t line, const absl::Status& status) {
    uint64_t at = offset;
    Place place{0, static_cast<uint32_t>(line), 1};
    const auto sql = SqlErrorOf(status);
    const uint32_t error_line = sql && sql->position ? std::max(sql->line, 1u) : 1;
    const uint32_t error_column = sql && sql->position ? std::max(sql->column, 1u) : 1;
    place.line += error_line - 1;
    place.column = error_column;
    if (error_line == 1) {
      const uint64_t begin = window_.LineBegin(offset, kLineReach);
      place.column +=
          static_cast<uint32_t>(UnitsOf(window_.Read(begin, offset), arguments_.positions));
    }
    if (sql && sql->position) {
      const std::string statement = window_.Read(offset, offset + *sql->position * 4 + 4);
      at = offset + ByteMapper(statement, arguments_.positions).ByteOf(*sql->position);
    }
    const uint64_t begin =
        std::max(window_.LineBegin(at, kExcerptBytes), at > kExcerptBytes ? at - kExcerptBytes : 0);
    const std::string excerpt = window_.Read(begin, at + kExcerptBytes);
    place.byte = at - begin;
    Say(RenderDiagnostic(file_.label(), excerpt, place, std::string(status.message()), style_));
  }

  void Say(const std::string& text) {
    progress_.Erase();
    error_.Write(text);
    error_.Finish().IgnoreError();
  }

  static constexpr int kTextColumn = 12 + 1 + 8 + 2 + 12 + 2;

  const Arguments& arguments_;
  ScriptFile& file_;
  const size_t chunk_bytes_;
  Output& out_;
  Output error_;
  Totals& totals_;
  Progress progress_;
  DiagnosticStyle style_;
  TextWindow window_;
  ScriptPlace place_;
  std::string pending_;  // read and not yet sent
};

}  // namespace

absl::StatusOr<ExitCode> RunScript(const Arguments& arguments, Client& client, Output& out) {
  const auto begin = Clock::now();
  const auto grammars = client.ListGrammars();
  if (!grammars.ok()) return grammars.status();
  const size_t chunk_bytes =
      std::min<size_t>(kPieceBytes, std::max<uint64_t>(grammars->limits().max_batch_bytes(), 1));

  Totals totals;
  const std::vector<std::string> standard_input = {"-"};
  for (const std::string& path : arguments.files.empty() ? standard_input : arguments.files) {
    auto file = ScriptFile::Open(path);
    if (!file.ok()) return file.status();
    const absl::Status status = ScriptRun(arguments, **file, chunk_bytes, out, totals).Run(client);
    if (status == OutputGone()) break;
    if (!status.ok()) return status;
  }
  if (absl::Status status = out.Finish(); !status.ok()) return status;
  if (!arguments.quiet) {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::string summary =
        absl::StrCat("pgparse: ", Throughput(totals.statements, "statements", seconds), ", ",
                     totals.failed, " failed");
    if (totals.meta_commands > 0) {
      absl::StrAppend(&summary, ", ", totals.meta_commands, " meta-commands");
    }
    if (totals.copies > 0) absl::StrAppend(&summary, ", ", totals.copy_rows, " COPY rows");
    if (totals.incomplete > 0) summary += ", ends inside a statement";
    Output error(STDERR_FILENO);
    error.Write(summary + "\n");
    error.Finish().IgnoreError();
  }
  return totals.first_error.value_or(kExitOk);
}

}  // namespace pgparsed::cli
