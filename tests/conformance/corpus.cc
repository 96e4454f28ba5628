#include "tests/conformance/corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/psql_splitter.h"

namespace pgparsed::conformance {

absl::StatusOr<std::vector<CorpusScript>> LoadScripts(const std::string& directory) {
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (std::filesystem::recursive_directory_iterator it(directory, error), end; it != end;
       it.increment(error)) {
    if (it->is_regular_file() && it->path().extension() == ".sql") paths.push_back(it->path());
  }
  if (error) return absl::NotFoundError(absl::StrCat("corpus ", directory, ": ", error.message()));
  if (paths.empty()) return absl::NotFoundError(absl::StrCat("no .sql file in ", directory));
  std::sort(paths.begin(), paths.end());

  std::vector<CorpusScript> scripts;
  for (const std::filesystem::path& path : paths) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in || !text) return absl::InternalError(absl::StrCat("cannot read ", path.string()));
    scripts.push_back({path.lexically_relative(directory).string(), text.str()});
  }
  return scripts;
}

absl::StatusOr<std::vector<CorpusStatement>> LoadCorpus(const std::string& directory) {
  const absl::StatusOr<std::vector<CorpusScript>> scripts = LoadScripts(directory);
  if (!scripts.ok()) return scripts.status();
  std::vector<CorpusStatement> statements;
  for (const CorpusScript& script : *scripts) {
    for (PsqlPiece& piece : SplitPsqlScript(script.text)) {
      if (piece.kind != PsqlPiece::Kind::kStatement) continue;
      statements.push_back({script.file, piece.line, std::move(piece.text)});
    }
  }
  return statements;
}

bool IsQueryText(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead == 0) return false;
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || i + length > text.size()) return false;
    for (size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
    }
    // Overlong forms, surrogates, and what lies past U+10FFFF.
    const auto second = static_cast<unsigned char>(text[i + 1]);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
      return false;
    }
    i += length;
  }
  return true;
}

}  // namespace pgparsed::conformance
