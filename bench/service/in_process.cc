#include "bench/service/in_process.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "text/views.h"

namespace pgparsed::bench {
namespace {

absl::StatusOr<InProcess::Result> ToResult(const absl::StatusOr<Words>& words) {
  if (!words.ok()) return words.status();
  InProcess::Result result;
  double nanoseconds = 0;
  double cpu_nanoseconds = 0;
  if (words->size() != 3 || !absl::SimpleAtoi((*words)[0], &result.runs) ||
      !absl::SimpleAtod((*words)[1], &nanoseconds) ||
      !absl::SimpleAtod((*words)[2], &cpu_nanoseconds)) {
    return absl::InternalError("the program in-process answers something else");
  }
  result.seconds = nanoseconds * 1e-9;
  result.cpu_seconds = cpu_nanoseconds * 1e-9;
  return result;
}

}  // namespace

absl::StatusOr<std::unique_ptr<InProcess>> InProcess::Start(const std::string& folder,
                                                            uint32_t grammar) {
  auto child = Child::Start({absl::StrCat(folder, "/service_in_process_", grammar)});
  if (!child.ok()) return child.status();
  return std::unique_ptr<InProcess>(new InProcess(*std::move(child)));
}

absl::StatusOr<InProcess::Result> InProcess::Run(std::string_view variant, const std::string& text,
                                                 Seconds duration) {
  if (const auto told = child_->Ask("text", text); !told.ok()) return told.status();
  return ToResult(child_->Ask(
      absl::StrCat("run ", text::ToAbsl(variant), " ", static_cast<int>(duration.count() * 1e3))));
}

absl::StatusOr<InProcess::Result> InProcess::ParseDump(uint64_t bytes) {
  return ToResult(child_->Ask(absl::StrCat("dump ", bytes)));
}

}  // namespace pgparsed::bench
