#include "service/item_stream.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "pgparsed/errors.h"
#include "service/item_results.h"
#include "service/requests.h"

namespace pgparsed::service {
namespace {

// Whether an error is the fault of a job's text. All others end the stream.
bool IsOfTheItem(const absl::Status& status) {
  switch (ReasonOf(status)) {
    case Reason::kParserCrashed:
    case Reason::kParserTimeLimit:
    case Reason::kParserMemoryLimit:
    case Reason::kNestingTooDeep:
    case Reason::kQueryTooLarge:
    case Reason::kInternal:
      return true;
    default:
      return false;
  }
}

}  // namespace

void ItemStream::Add(std::vector<std::string_view> texts, std::shared_ptr<const void> owner,
                     Done done, const Refused& refused, std::optional<bool> standard_strings) {
  auto chunk = std::make_unique<Chunk>();
  chunk->texts = std::move(texts);
  chunk->owner = std::move(owner);
  chunk->done = std::move(done);
  chunk->header = options_.header;
  if (standard_strings) {
    chunk->header.flags &= ~channel::kFlagNoStandardConformingStrings;
    if (!*standard_strings) chunk->header.flags |= channel::kFlagNoStandardConformingStrings;
  }
  Plan(*chunk, refused);
  {
    sync::MutexLock lock(mutex_);
    if (cancelled_ || !failure_.ok()) return;
    for (Part& part : chunk->parts) {
      if (part.finished) continue;
      ++chunk->unfinished;
      waiting_.push_back(&part);
    }
    chunks_.push_back(std::move(chunk));
  }
  Work();
}

// Whether a text is refused alone, or must not take others with it.
bool ItemStream::ShouldRunAlone(std::string_view text, channel::JobHeader header) const {
  if (text.size() > kJobBytes) return true;
  header.item_count = 1;
  const auto length = static_cast<uint32_t>(text.size());
  return pool_.Remembers(header, text, {reinterpret_cast<const char*>(&length), sizeof(length)});
}

// Cuts a chunk that nobody else knows yet into parts.
void ItemStream::Plan(Chunk& chunk, const Refused& refused) const {
  const Limits limits{.max_query_bytes = options_.max_query_bytes};
  size_t bytes = 0;
  bool joins = false;  // whether the next item may join the last part
  for (uint32_t i = 0; i < chunk.texts.size(); ++i) {
    const std::string_view text = chunk.texts[i];
    const auto known = refused.find(i);
    absl::Status status = known != refused.end() ? known->second : CheckQuery(text, limits);
    if (!status.ok()) {
      Part& part = chunk.parts.emplace_back(Part{.chunk = &chunk, .begin = i, .end = i + 1});
      AppendFailedItem(options_.header.operations, i, status, part.columns);
      part.finished = true;
      joins = false;
      continue;
    }
    const bool alone = ShouldRunAlone(text, chunk.header);
    if (joins && !alone && bytes + text.size() <= kJobBytes &&
        i - chunk.parts.back().begin < kJobItems) {
      chunk.parts.back().end = i + 1;
      bytes += text.size();
      continue;
    }
    chunk.parts.emplace_back(Part{.chunk = &chunk, .begin = i, .end = i + 1});
    bytes = text.size();
    joins = !alone;
  }
  if (options_.header.operations != 0) return;
  for (Part& part : chunk.parts) part.finished = true;  // nothing to do
}

pool::Job ItemStream::MakeJob(const Part& part) const {
  pool::Job job;
  job.grammar = options_.grammar;
  job.lane = pool::Lane::kStream;
  job.header = part.chunk->header;
  job.header.item_count = part.end - part.begin;
  job.deadline = options_.deadline;
  job.ends_with_worker = job.header.item_count > 1;
  size_t bytes = 0;
  for (uint32_t i = part.begin; i < part.end; ++i) bytes += part.chunk->texts[i].size() + 1;
  job.text.reserve(bytes);
  job.comments.reserve(job.header.item_count * sizeof(uint32_t));
  for (uint32_t i = part.begin; i < part.end; ++i) {
    const std::string_view text = part.chunk->texts[i];
    if (i > part.begin) job.text += '\0';
    job.text += text;
    const auto length = static_cast<uint32_t>(text.size());
    job.comments.append(reinterpret_cast<const char*>(&length), sizeof(length));
  }
  return job;
}

// Submits what may be submitted and delivers what is ready, on one thread at a time.
void ItemStream::Work() {
  {
    sync::MutexLock lock(mutex_);
    if (working_) {
      work_again_ = true;
      return;
    }
    working_ = true;
  }
  for (;;) {
    Part* part = nullptr;
    {
      sync::MutexLock lock(mutex_);
      work_again_ = false;
      if (!cancelled_ && failure_.ok() && !held_back_ && in_flight_ < options_.jobs_in_flight &&
          !waiting_.empty()) {
        part = waiting_.front();
        waiting_.pop_front();
        ++in_flight_;
        running_[part] = nullptr;
      }
    }
    if (part != nullptr) {
      Submit(*part);
      continue;
    }
    if (DeliverNext()) continue;
    sync::MutexLock lock(mutex_);
    if (work_again_) continue;
    working_ = false;
    return;
  }
}

void ItemStream::Submit(Part& part) {
  pool::Job job = MakeJob(part);
  job.done = [self = shared_from_this(), &part](absl::StatusOr<pool::JobAnswer> answer) {
    self->OnAnswer(part, std::move(answer));
  };
  std::shared_ptr<pool::JobHandle> handle = pool_.Submit(std::move(job));
  bool cancel = false;
  {
    // The part is there still: this thread alone delivers chunks.
    sync::MutexLock lock(mutex_);
    if (running_.contains(&part)) running_[&part] = handle;
    cancel = cancelled_ || !failure_.ok();
  }
  if (cancel) handle->Cancel();
}

void ItemStream::OnAnswer(Part& part, absl::StatusOr<pool::JobAnswer> answer) {
  absl::Status status = answer.status();
  if (status.ok()) {
    if (options_.conversions != nullptr) {
      options_.conversions->Add(options_.grammar, options_.header, answer->answer.header,
                                part.end - part.begin);
    }
    status = AppendResults(answer->answer, options_.header.operations, part.end - part.begin,
                           part.begin, part.columns);
    answer->lease.reset();
  }
  std::vector<std::shared_ptr<pool::JobHandle>> useless;
  {
    sync::MutexLock lock(mutex_);
    running_.erase(&part);
    --in_flight_;
    if (cancelled_ || !failure_.ok()) return;  // DeliverNext is on its way, or nobody listens
    if (status.ok()) {
      ItemAnswer& sum = part.chunk->answer;
      sum.parse_ns += answer->answer.header.parse_ns;
      sum.convert_ns += answer->answer.header.convert_ns;
      sum.queue_time = std::max(sum.queue_time, answer->queue_time);
      held_back_ = false;
      FinishPart(part);
    } else {
      OnFailure(part, status);
      if (!failure_.ok()) useless = RunningHandles();
    }
  }
  for (const auto& handle : useless) handle->Cancel();
  Work();
}

void ItemStream::OnFailure(Part& part, const absl::Status& why) {
  if (ReasonOf(why) == Reason::kOverloaded && in_flight_ > 0) {
    // Room comes with the stream's own next answer.
    held_back_ = true;
    waiting_.push_front(&part);
    return;
  }
  held_back_ = false;
  if (!IsOfTheItem(why)) {
    failure_ = why;
    return;
  }
  if (part.end - part.begin > 1) {
    RunItemsAlone(part);
    return;
  }
  AppendFailedItem(options_.header.operations, part.begin, why, part.columns);
  FinishPart(part);
}

void ItemStream::RunItemsAlone(Part& part) {
  Chunk& chunk = *part.chunk;
  auto at = std::find_if(chunk.parts.begin(), chunk.parts.end(),
                         [&](const Part& other) { return &other == &part; });
  ++at;
  std::vector<Part*> alone;
  for (uint32_t i = part.begin; i < part.end; ++i) {
    alone.push_back(&*chunk.parts.insert(at, Part{.chunk = &chunk, .begin = i, .end = i + 1}));
  }
  chunk.unfinished += alone.size();
  waiting_.insert(waiting_.begin(), alone.begin(), alone.end());
  FinishPart(part);
}

void ItemStream::FinishPart(Part& part) { --part.chunk->unfinished; }

bool ItemStream::DeliverNext() {
  Done done;
  absl::StatusOr<ItemAnswer> answer;
  {
    sync::MutexLock lock(mutex_);
    if (cancelled_ || chunks_.empty() || failure_delivered_) return false;
    Chunk& chunk = *chunks_.front();
    if (!failure_.ok()) {
      failure_delivered_ = true;
      answer = failure_;
      done = std::move(chunk.done);
    } else if (chunk.unfinished == 0) {
      for (Part& part : chunk.parts) {
        if (!part.columns.empty()) chunk.answer.columns.push_back(std::move(part.columns));
      }
      chunk.answer.total = absl::Now() - chunk.added;
      answer = std::move(chunk.answer);
      done = std::move(chunk.done);
      chunks_.pop_front();
    } else {
      return false;
    }
  }
  done(std::move(answer));
  return true;
}

void ItemStream::Cancel() {
  std::vector<std::shared_ptr<pool::JobHandle>> handles;
  // They may hold who holds this stream. The chunks themselves stay: jobs that end refer to them.
  std::vector<Done> unheard;
  {
    sync::MutexLock lock(mutex_);
    cancelled_ = true;
    waiting_.clear();
    handles = RunningHandles();
    for (const auto& chunk : chunks_) unheard.push_back(std::exchange(chunk->done, nullptr));
  }
  for (const auto& handle : handles) handle->Cancel();
}

std::vector<std::shared_ptr<pool::JobHandle>> ItemStream::RunningHandles() {
  std::vector<std::shared_ptr<pool::JobHandle>> handles;
  for (const auto& [part, handle] : running_) {
    if (handle != nullptr) handles.push_back(handle);
  }
  return handles;
}

}  // namespace pgparsed::service
