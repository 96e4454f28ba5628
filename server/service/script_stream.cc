#include "service/script_stream.h"

#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"

namespace pgparsed::service {

ScriptStream::ScriptStream(Backend::OpenStream stream, const splitter::Options& options,
                           Callbacks callbacks)
    : stream_(std::move(stream)), callbacks_(std::move(callbacks)), splitter_(options) {}

void ScriptStream::Feed(std::string_view bytes) {
  splitter_.Feed(
      bytes, [this](const splitter::Piece& piece, std::string_view text) { Take(piece, text); });
  // What is there leaves, though the group may not be full: the next bytes may be long in coming.
  if (open_.head.offset_size() > 0) CloseGroup();
  Work();
}

void ScriptStream::Finish() {
  splitter_.Finish(
      [this](const splitter::Piece& piece, std::string_view text) { Take(piece, text); });
  open_.head.set_incomplete(splitter_.incomplete());
  CloseGroup();
  {
    sync::MutexLock lock(mutex_);
    finished_ = true;
  }
  Work();
}

void ScriptStream::Take(const splitter::Piece& piece, std::string_view text) {
  if (piece.kind == splitter::PieceKind::kStatement) {
    const bool standard_strings = splitter_.standard_conforming_strings();
    if (!open_.statements.empty() && open_.standard_strings != standard_strings) CloseGroup();
    open_.standard_strings = standard_strings;
  }
  v1::ParseScriptResponse& head = open_.head;
  const int index = head.offset_size();
  head.add_offset(piece.offset);
  head.add_length(piece.length);
  head.add_line(piece.line);
  head.add_kind(static_cast<v1::PieceKind>(piece.kind));
  if (piece.kind == splitter::PieceKind::kCopyData) {
    while (head.copy_rows_size() < index) head.add_copy_rows(0);
    head.add_copy_rows(piece.copy_rows);
  } else if (head.copy_rows_size() > 0) {
    head.add_copy_rows(0);
  }
  if (piece.kind == splitter::PieceKind::kStatement) {
    if (piece.too_long) {
      open_.refused.emplace(
          static_cast<uint32_t>(open_.statements.size()),
          MakeError(Reason::kQueryTooLarge,
                    absl::StrCat("the statement has ", piece.length,
                                 " bytes, more than this server takes; raise --max-query-bytes")));
    }
    head.add_statement_piece(static_cast<uint32_t>(index));
    open_.statements.emplace_back(open_.text.size(), text.size());
    open_.text += text;
  }
  if (open_.statements.size() >= kGroupStatements || open_.text.size() >= kGroupBytes ||
      head.offset_size() >= kGroupPieces) {
    CloseGroup();
  }
}

void ScriptStream::CloseGroup() {
  open_.head.set_resume_offset(splitter_.resume_offset());
  open_.head.set_resume_line(splitter_.resume_line());
  open_.head.set_resume_standard_conforming_strings(splitter_.resume_standard_conforming_strings());
  sync::MutexLock lock(mutex_);
  waiting_.push_back(std::exchange(open_, Group()));
}

void ScriptStream::Run(Group group) {
  auto owner = std::make_shared<std::string>(std::move(group.text));
  std::vector<std::string_view> texts;
  texts.reserve(group.statements.size());
  for (const auto& [begin, length] : group.statements) {
    texts.push_back(std::string_view(*owner).substr(begin, length));
  }
  auto head = std::make_shared<v1::ParseScriptResponse>(std::move(group.head));
  stream_.items->Add(
      std::move(texts), owner,
      [self = shared_from_this(), head](absl::StatusOr<ItemAnswer> answer) {
        if (!answer.ok()) return self->callbacks_.answer(answer.status());
        head->set_grammar(self->stream_.grammar);
        head->set_postgres_version_num(self->stream_.postgres_version_num);
        if (self->stream_.want_timing) FillTiming(*answer, *head->mutable_timing());
        self->callbacks_.answer(
            ScriptAnswer{.head = std::move(*head), .columns = std::move(answer->columns)});
      },
      group.refused, stream_.parser_options ? std::optional(group.standard_strings) : std::nullopt);
}

// Runs groups in order while there may be more in flight, on one thread at a time.
void ScriptStream::Work() {
  bool room = false;
  bool end = false;
  {
    sync::MutexLock lock(mutex_);
    if (working_) {
      work_again_ = true;
      return;
    }
    working_ = true;
  }
  for (;;) {
    Group group;
    {
      sync::MutexLock lock(mutex_);
      work_again_ = false;
      if (waiting_.empty() || in_flight_ >= stream_.chunks_in_flight) {
        room = waiting_.empty() && std::exchange(room_wanted_, false);
        end = waiting_.empty() && in_flight_ == 0 && finished_ && !std::exchange(ended_, true);
        working_ = false;
        break;
      }
      group = std::move(waiting_.front());
      waiting_.pop_front();
      ++in_flight_;
    }
    Run(std::move(group));
  }
  if (end) return callbacks_.end();
  if (room) callbacks_.room();
}

bool ScriptStream::HasRoom() {
  sync::MutexLock lock(mutex_);
  room_wanted_ = !waiting_.empty();
  return waiting_.empty();
}

void ScriptStream::OnAnswerSent() {
  {
    sync::MutexLock lock(mutex_);
    --in_flight_;
  }
  Work();
}

void ScriptStream::Cancel() { stream_.items->Cancel(); }

}  // namespace pgparsed::service
