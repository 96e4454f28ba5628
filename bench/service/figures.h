// The figures, by name. Each measures what it compares in turn, round by round.
#pragma once

#include <span>

#include "absl/status/status.h"
#include "bench/service/book.h"
#include "bench/service/lab.h"

namespace pgparsed::bench {

struct Figure {
  const char* name;
  const char* text;
  absl::Status (*make)(Lab& lab, Book& book);
};

std::span<const Figure> Figures();

// unary_figures.cc
absl::Status MakeUnary(Lab& lab, Book& book);
absl::Status MakeSizes(Lab& lab, Book& book);
absl::Status MakeOpenLoop(Lab& lab, Book& book);
absl::Status MakeOneMib(Lab& lab, Book& book);
// stream_figures.cc
absl::Status MakeBatch(Lab& lab, Book& book);
absl::Status MakeDecode(Lab& lab, Book& book);
absl::Status MakeWorkers(Lab& lab, Book& book);
absl::Status MakeMixed(Lab& lab, Book& book);
// script_figures.cc
absl::Status MakeScript(Lab& lab, Book& book);

}  // namespace pgparsed::bench
