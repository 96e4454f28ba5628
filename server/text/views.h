// Between std::string_view, which this project uses, and absl::string_view, which is a type of its
// own where Abseil was built for an older C++ (Debian's is). Where they are one type these do
// nothing.
#pragma once

#include <string_view>

#include "absl/strings/string_view.h"

namespace pgparsed::text {

inline absl::string_view ToAbsl(std::string_view view) { return {view.data(), view.size()}; }
inline std::string_view ToStd(absl::string_view view) { return {view.data(), view.size()}; }

}  // namespace pgparsed::text
