#include "grammar/json_check.h"

#include <string>

#include "text/utf8.h"

namespace pgparsed::grammar {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // No recursion: the brackets that are open stand in `open`.
  bool Read() {
    std::string open;
    for (;;) {
      SkipSpace();
      if (Take('{')) {
        SkipSpace();
        if (!Take('}')) {
          open += '}';
          if (!Key()) return false;
          continue;
        }
      } else if (Take('[')) {
        SkipSpace();
        if (!Take(']')) {
          open += ']';
          continue;
        }
      } else if (!Scalar()) {
        return false;
      }
      // A value has ended: what it ends, and what comes next.
      for (;;) {
        SkipSpace();
        if (open.empty()) return at_ == text_.size();
        if (!Take(open.back())) break;
        open.pop_back();
      }
      if (!Take(',')) return false;
      if (open.back() == '}' && !Key()) return false;
    }
  }

 private:
  bool Take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool TakeAny(std::string_view characters) {
    if (at_ == text_.size() || characters.find(text_[at_]) == characters.npos) return false;
    ++at_;
    return true;
  }

  void SkipSpace() {
    while (TakeAny(" \t\n\r")) {
    }
  }

  bool Key() {
    SkipSpace();
    if (!String()) return false;
    SkipSpace();
    return Take(':');
  }

  bool Scalar() {
    for (const std::string_view word : {"null", "true", "false"}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return true;
      }
    }
    return String() || Number();
  }

  bool String() {
    if (!Take('"')) return false;
    while (!Take('"')) {
      if (at_ == text_.size() || static_cast<unsigned char>(text_[at_]) < 0x20) return false;
      if (!Take('\\')) {
        ++at_;
      } else if (Take('u')) {
        for (int i = 0; i < 4; ++i) {
          if (!TakeAny("0123456789abcdefABCDEF")) return false;
        }
      } else if (!TakeAny("\"\\/bfnrt")) {
        return false;
      }
    }
    return true;
  }

  bool Digits() {
    const size_t begin = at_;
    while (TakeAny("0123456789")) {
    }
    return at_ > begin;
  }

  bool Number() {
    Take('-');
    if (!Take('0') && !Digits()) return false;
    if (Take('.') && !Digits()) return false;
    if (TakeAny("eE")) {
      TakeAny("+-");
      return Digits();
    }
    return true;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

bool IsJson(std::string_view text) { return !text::FindInvalid(text) && Reader(text).Read(); }

}  // namespace pgparsed::grammar
