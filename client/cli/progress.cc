#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/output.h"
#include "cli/utf8_display.h"

namespace pgparsed::cli {
namespace {

constexpr std::chrono::milliseconds kInterval{100};
constexpr int kBarColumns = 20;
constexpr int kMostLabelColumns = 30;
constexpr std::string_view kEraseLine = "\r\x1b[K";
// Before that, a rate says nothing.
constexpr double kSettledSeconds = 0.5;

std::string Bytes(double bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < std::size(kUnits)) {
    bytes /= 1000;
    ++unit;
  }
  return absl::StrFormat("%.*f %s", unit > 0 && bytes < 9.95 ? 1 : 0, bytes, kUnits[unit]);
}

std::string Left(double seconds) {
  if (seconds < 90) return absl::StrFormat("%.0f s left", seconds);
  if (seconds < 90 * 60) return absl::StrFormat("%.0f min left", seconds / 60);
  return absl::StrFormat("%.1f h left", seconds / 3600);
}

int Width(std::string_view text) {
  int width = 0;
  for (const Cell& cell : DisplayCells(text)) width += cell.width;
  return width;
}

bool DumbTerminal() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::strcmp(term, "dumb") == 0;
}

}  // namespace

std::string RenderProgress(std::string_view label, std::string_view items_name,
                           const ProgressState& state, int width) {
  struct Part {
    std::string text;
    int rank;  // the highest goes first when there is no room
  };
  std::vector<Part> parts;
  parts.push_back({PrintableLine(label, std::clamp(width, 1, kMostLabelColumns)), 0});
  const double share =
      state.bytes_in_all == 0
          ? 0
          : std::min(static_cast<double>(state.bytes) / static_cast<double>(state.bytes_in_all),
                     1.0);
  if (state.bytes_in_all > 0) {
    const auto full = static_cast<size_t>(share * kBarColumns);
    parts.push_back(
        {absl::StrCat("[", std::string(full, '='), std::string(kBarColumns - full, ' '), "]"), 5});
    parts.push_back({absl::StrFormat("%3d%%", static_cast<int>(share * 100)), 1});
    parts.push_back({absl::StrCat(Bytes(static_cast<double>(state.bytes)), " of ",
                                  Bytes(static_cast<double>(state.bytes_in_all))),
                     3});
  } else {
    parts.push_back({Bytes(static_cast<double>(state.bytes)), 1});
  }
  if (state.seconds >= kSettledSeconds) {
    parts.push_back({Bytes(static_cast<double>(state.bytes) / state.seconds) + "/s", 4});
    if (share > 0 && share < 1) {
      parts.push_back({Left(state.seconds / share * (1 - share)), 2});
    }
  }
  if (!items_name.empty()) {
    parts.push_back({absl::StrCat(state.items, " ", std::string(items_name)), 3});
  }
  const auto joined = [&parts] {
    std::string line;
    for (const Part& part : parts) absl::StrAppend(&line, line.empty() ? "" : "  ", part.text);
    return line;
  };
  while (parts.size() > 1 && Width(joined()) > width) {
    parts.erase(std::max_element(parts.begin(), parts.end(),
                                 [](const Part& a, const Part& b) { return a.rank < b.rank; }));
  }
  return joined();
}

Progress Progress::OnStandardError(std::string label, std::string items_name,
                                   uint64_t bytes_in_all) {
  std::optional<Terminal> terminal;
  const Output error(STDERR_FILENO);
  if (error.is_terminal() && !DumbTerminal()) {
    terminal.emplace();
    terminal->width = error.width() - 1;  // the last column may wrap
    terminal->now = [] { return Clock::now(); };
    terminal->write = [](std::string_view text) {
      [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
    };
  }
  return Progress(std::move(label), std::move(items_name), bytes_in_all, std::move(terminal));
}

Progress::Progress(std::string label, std::string items_name, uint64_t bytes_in_all,
                   std::optional<Terminal> terminal)
    : label_(std::move(label)),
      items_name_(std::move(items_name)),
      bytes_in_all_(bytes_in_all),
      terminal_(std::move(terminal)) {
  if (terminal_.has_value()) begin_ = terminal_->now();
}

Progress::~Progress() { Erase(); }

void Progress::Update(uint64_t bytes, uint64_t items) {
  if (!terminal_.has_value()) return;
  const Clock::time_point now = terminal_->now();
  if (last_.has_value() && now - *last_ < kInterval) return;
  last_ = now;
  shown_ = true;
  const ProgressState state{bytes, bytes_in_all_, items,
                            std::chrono::duration<double>(now - begin_).count()};
  terminal_->write(
      absl::StrCat("\r", RenderProgress(label_, items_name_, state, terminal_->width), "\x1b[K"));
}

void Progress::Erase() {
  if (!shown_) return;
  shown_ = false;
  terminal_->write(kEraseLine);
}

}  // namespace pgparsed::cli
