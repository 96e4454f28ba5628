#include "cli/workload/line_prefix.h"

#include <algorithm>
#include <optional>

namespace pgparsed::cli {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }

template <typename Predicate>
size_t Run(std::string_view text, size_t from, Predicate is) {
  size_t end = from;
  while (end < text.size() && is(text[end])) ++end;
  return end;
}

// The length of a session id at `at`, or 0.
size_t SessionIdLength(std::string_view text, size_t at) {
  const size_t point = Run(text, at, IsHex);
  if (point == at || point >= text.size() || text[point] != '.') return 0;
  const size_t end = Run(text, point + 1, IsHex);
  return end == point + 1 ? 0 : end - at;
}

}  // namespace

LinePrefix::LinePrefix(std::string_view setting) {
  std::optional<size_t> stop;
  const auto literal = [this](char c) {
    if (items_.empty() || items_.back().kind != Kind::kLiteral) {
      items_.push_back({Kind::kLiteral, {}});
    }
    items_.back().literal.push_back(c);
  };
  for (size_t i = 0; i < setting.size(); ++i) {
    if (setting[i] != '%') {
      literal(setting[i]);
      continue;
    }
    ++i;
    if (i < setting.size() && setting[i] == '%') {
      literal('%');
      continue;
    }
    // %-10u is padded behind, %10u before.
    const bool left = i < setting.size() && setting[i] == '-';
    const size_t digits = i + (left ? 1 : 0);
    i = Run(setting, digits, IsDigit);
    const bool padded = i > digits;
    if (i >= setting.size()) break;
    std::optional<Kind> kind;
    switch (setting[i]) {
      case 'p':
        kind = Kind::kProcess;
        break;
      case 'c':
        kind = Kind::kSession;
        break;
      case 'l':
        kind = Kind::kNumber;
        break;
      case 'q':
        stop = items_.size();
        // What follows must not become a part of the literal before.
        items_.push_back({Kind::kLiteral, {}});
        break;
      case 'a':
      case 'b':
      case 'd':
      case 'e':
      case 'h':
      case 'i':
      case 'L':
      case 'm':
      case 'n':
      case 'P':
      case 'Q':
      case 'r':
      case 's':
      case 't':
      case 'u':
      case 'v':
      case 'x':
        kind = Kind::kAny;
        break;
      default:
        break;
    }
    if (!kind.has_value()) continue;
    if (padded && !left) items_.push_back({Kind::kSpaces, {}});
    items_.push_back({*kind, {}});
    if (padded && left) items_.push_back({Kind::kSpaces, {}});
  }
  if (stop.has_value()) {
    short_items_.assign(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(*stop));
  }
}

// Tries the items one after the other and remembers what did not work out.
class LinePrefix::Matcher {
 public:
  Matcher(const std::vector<Item>& items, std::string_view text)
      : items_(items), text_(text), failed_(items.size() * (text.size() + 1)) {}

  bool Run() { return From(0, 0); }

  std::string_view process;
  std::string_view session;

 private:
  bool From(size_t item, size_t at) {
    if (item == items_.size()) return at == text_.size();
    if (failed_[item * (text_.size() + 1) + at]) return false;
    if (Try(item, at)) return true;
    failed_[item * (text_.size() + 1) + at] = true;
    return false;
  }

  bool Try(size_t item, size_t at) {
    switch (items_[item].kind) {
      case Kind::kLiteral:
        return text_.substr(at).starts_with(items_[item].literal) &&
               From(item + 1, at + items_[item].literal.size());
      case Kind::kProcess: {
        const size_t end = cli::Run(text_, at, IsDigit);
        if (end == at || !From(item + 1, end)) return false;
        process = text_.substr(at, end - at);
        return true;
      }
      case Kind::kSession: {
        const size_t length = SessionIdLength(text_, at);
        if (length == 0 || !From(item + 1, at + length)) return false;
        session = text_.substr(at, length);
        return true;
      }
      case Kind::kNumber: {
        const size_t end = cli::Run(text_, at, IsDigit);
        return end > at && From(item + 1, end);
      }
      case Kind::kSpaces:
        return From(item + 1, cli::Run(text_, at, [](char c) { return c == ' '; }));
      case Kind::kAny:
        for (size_t end = at; end <= text_.size(); ++end) {
          if (From(item + 1, end)) return true;
        }
        return false;
    }
    return false;
  }

  const std::vector<Item>& items_;
  const std::string_view text_;
  std::vector<bool> failed_;
};

bool LinePrefix::Matches(std::string_view text, std::string_view* session) const {
  for (const std::vector<Item>* items : {&items_, &short_items_}) {
    if (items == &short_items_ && items->empty()) continue;
    Matcher matcher(*items, text);
    if (!matcher.Run()) continue;
    *session = matcher.session.empty() ? matcher.process : matcher.session;
    return true;
  }
  return false;
}

std::string_view GuessSession(std::string_view prefix) {
  for (size_t at = 0; at < prefix.size(); at = std::max(Run(prefix, at, IsHex), at + 1)) {
    const size_t length = SessionIdLength(prefix, at);
    if (length > 9 && prefix[at + 8] == '.') return prefix.substr(at, length);
  }
  for (size_t open = prefix.find('['); open != std::string_view::npos;
       open = prefix.find('[', open + 1)) {
    const size_t end = Run(prefix, open + 1, IsDigit);
    if (end == open + 1 || end >= prefix.size()) continue;
    if (prefix[end] == ']' || prefix[end] == '-') {
      return prefix.substr(open + 1, end - open - 1);
    }
  }
  return {};
}

}  // namespace pgparsed::cli
