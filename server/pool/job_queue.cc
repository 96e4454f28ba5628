#include "pool/job_queue.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "pgparsed/errors.h"

namespace pgparsed::pool {
namespace {

using Clock = JobQueue::Clock;

// A time of the wall clock, as far away on the steady one.
Clock::time_point Steady(absl::Time time, Clock::time_point now) {
  if (time == absl::InfiniteFuture()) return Clock::time_point::max();
  const absl::Duration left = time - absl::Now();
  if (left <= absl::ZeroDuration()) return now;
  if (left > absl::Hours(24 * 365)) return Clock::time_point::max();
  return now + absl::ToChronoNanoseconds(left);
}

Clock::time_point Later(Clock::time_point now, Clock::duration wait) {
  return wait > Clock::time_point::max() - now ? Clock::time_point::max() : now + wait;
}

}  // namespace

QueuedJob::QueuedJob(Job the_job, std::weak_ptr<JobQueue> queue)
    : job(std::move(the_job)),
      submitted(Clock::now()),
      deadline(Steady(job.deadline, submitted)),
      queue_(std::move(queue)) {}

void QueuedJob::Cancel() {
  if (const auto queue = queue_.lock()) queue->Cancel(shared_from_this());
}

void QueuedJob::End(absl::StatusOr<JobAnswer> outcome) {
  if (JobDone done = std::exchange(job.done, nullptr)) done(std::move(outcome));
  job.on_piece = nullptr;
  job.text = {};
  job.comments = {};
}

JobQueue::JobQueue(Limits limits, std::function<void()> news)
    : limits_(limits), news_(std::move(news)) {}

JobQueue::LaneState& JobQueue::LaneOf(const QueuedJob& job) {
  return job.job.lane == Lane::kStream ? stream_ : unary_;
}

void JobQueue::Enter(const JobPtr& job, bool at_head, Clock::time_point expiry) {
  LaneState& lane = LaneOf(*job);
  job->position_ = lane.jobs.insert(at_head ? lane.jobs.begin() : lane.jobs.end(), job);
  lane.bytes += job->job.text.size() + job->job.comments.size();
  job->expiry_ = expiries_.emplace(expiry, job.get());
  job->place_ = QueuedJob::Place::kQueued;
  WakeOne();
}

void JobQueue::Leave(QueuedJob& job) {
  LaneState& lane = LaneOf(job);
  expiries_.erase(job.expiry_);
  lane.bytes -= job.job.text.size() + job.job.comments.size();
  lane.jobs.erase(job.position_);
}

void JobQueue::EndQueued(const JobPtr& job, absl::Status why) {
  const JobPtr keep = job;  // `job` may be the lane's own pointer
  Leave(*keep);
  keep->place_ = QueuedJob::Place::kEnded;
  if (keep->deaths > 0 && why.code() == absl::StatusCode::kUnavailable && !closed_) {
    why = MakeError(Reason::kParserCrashed,
                    "a worker died while it ran this query, and no other can be started");
  }
  ended_.push_back({keep, std::move(why)});
}

void JobQueue::EndAllQueued(const absl::Status& why) {
  while (!unary_.jobs.empty()) EndQueued(unary_.jobs.front(), why);
  while (!stream_.jobs.empty()) EndQueued(stream_.jobs.front(), why);
}

absl::Status JobQueue::Push(JobPtr job) {
  bool news = false;
  {
    sync::MutexLock lock(mutex_);
    if (closed_) return *closed_;
    if (unavailable_) return *unavailable_;
    const LaneState& lane = LaneOf(*job);
    const uint64_t bytes = job->job.text.size() + job->job.comments.size();
    if (lane.jobs.size() >= limits_.max_length ||
        (!lane.jobs.empty() && lane.bytes + bytes > limits_.max_bytes)) {
      return MakeError(Reason::kOverloaded, "the queue is full; try again later");
    }
    last_job_ = job->submitted;
    const bool waits_for_ever = job->job.lane == Lane::kStream;
    if (!waits_for_ever) last_unary_ = job->submitted;
    const auto expiry =
        std::min(job->deadline, waits_for_ever ? Clock::time_point::max()
                                               : Later(job->submitted, limits_.max_wait));
    Enter(job, /*at_head=*/false, expiry);
    if (asleep_) {
      asleep_ = false;
      start_requested_ = true;
      news = true;
    }
    if (expiry < armed_for_) {
      armed_for_ = expiry;
      news = true;
    }
  }
  if (news) news_();
  return absl::OkStatus();
}

void JobQueue::PushAgain(const JobPtr& job) {
  {
    sync::MutexLock lock(mutex_);
    StopRunning(*job);
    Enter(job, /*at_head=*/true, job->deadline);
    if (job->cancelled()) {
      EndQueued(job, MakeError(Reason::kCancelled, "the call was cancelled"));
    } else if (abandoned_) {
      EndQueued(job, *closed_);
    } else if (unavailable_) {
      EndQueued(job, *unavailable_);
    }
    armed_for_ = std::min(armed_for_, job->deadline);
  }
  news_();
}

bool JobQueue::MayRunStream() const {
  if (running_streams_ == 0 || running_streams_ + 1 < workers_) return true;
  return running_streams_ < workers_ && Clock::now() >= LastWorkerIsForStreams();
}

Clock::time_point JobQueue::LastWorkerIsForStreams() const {
  return last_unary_ ? Later(*last_unary_, limits_.unary_memory) : Clock::time_point::min();
}

JobQueue::JobPtr JobQueue::NextJob() {
  if (running_ >= limits_.max_running) return nullptr;
  const bool stream_may = !stream_.jobs.empty() && MayRunStream();
  const bool streams_turn = stream_may && unary_in_a_row_ >= kUnaryInARow;
  JobPtr job;
  if (!unary_.jobs.empty() && !streams_turn) {
    job = unary_.jobs.front();
    unary_in_a_row_ = stream_.jobs.empty() ? 0 : unary_in_a_row_ + 1;
  } else if (stream_may) {
    job = stream_.jobs.front();
    unary_in_a_row_ = 0;
    ++running_streams_;
  } else {
    return nullptr;
  }
  Leave(*job);
  ++running_;
  job->place_ = QueuedJob::Place::kRunning;
  return job;
}

JobQueue::JobPtr JobQueue::Pop(std::shared_ptr<JobRunner> runner, absl::FunctionRef<bool()> give_up,
                               absl::FunctionRef<void()> tend) {
  sync::CondVar woken;
  Clock::time_point tend_at = Clock::now() + limits_.idle_after;
  sync::MutexLock lock(mutex_);
  for (;;) {
    if (give_up()) {
      // This thread may have been woken for a job.
      if (!unary_.jobs.empty() || !stream_.jobs.empty()) WakeOne();
      return nullptr;
    }
    if (JobPtr job = NextJob()) {
      job->runner_ = std::move(runner);
      return job;
    }
    if (Clock::now() >= tend_at) {
      tend_at = Clock::time_point::max();
      mutex_.Unlock();
      tend();
      mutex_.Lock();
      continue;
    }
    idle_.push_back(&woken);
    Clock::time_point until = tend_at;
    if (!stream_.jobs.empty() && running_ < limits_.max_running && running_streams_ < workers_) {
      until = std::min(until, LastWorkerIsForStreams());
    }
    if (until == Clock::time_point::max()) {
      woken.Wait(mutex_);
    } else {
      woken.WaitUntil(mutex_, until);
    }
    std::erase(idle_, &woken);  // it is there still if nobody woke it
  }
}

void JobQueue::LeaveWorker(QueuedJob& job) {
  --running_;
  if (job.job.lane == Lane::kStream) --running_streams_;
  job.runner_.reset();
}

void JobQueue::StopRunning(QueuedJob& job) {
  LeaveWorker(job);
  if (job.job.lane == Lane::kStream && !stream_.jobs.empty()) WakeOne();
}

JobQueue::JobPtr JobQueue::TakeNext(const JobPtr& answered, std::shared_ptr<JobRunner> runner) {
  sync::MutexLock lock(mutex_);
  LeaveWorker(*answered);
  answered->place_ = QueuedJob::Place::kAnswered;
  ++answered_;
  JobPtr next = NextJob();
  if (next != nullptr) next->runner_ = std::move(runner);
  // Another worker may have been kept from it by the job that is answered.
  if (!stream_.jobs.empty() && MayRunStream()) WakeOne();
  return next;
}

void JobQueue::Finish(const JobPtr& job) {
  sync::MutexLock lock(mutex_);
  if (job->place_ == QueuedJob::Place::kAnswered) {
    --answered_;
  } else {
    StopRunning(*job);
  }
  job->place_ = QueuedJob::Place::kEnded;
  last_job_ = Clock::now();
  if (EmptyLocked()) emptied_.SignalAll();
}

void JobQueue::WakeOne() {
  // With no room for another running job, who makes room takes the job.
  if (idle_.empty() || running_ >= limits_.max_running) return;
  idle_.back()->Signal();
  idle_.pop_back();
}

void JobQueue::WakeAll() {
  sync::MutexLock lock(mutex_);
  for (sync::CondVar* idle : idle_) idle->Signal();
  idle_.clear();
}

void JobQueue::SetWorkers(uint32_t workers) {
  sync::MutexLock lock(mutex_);
  workers_ = workers;
  for (sync::CondVar* idle : idle_) idle->Signal();
  idle_.clear();
}

void JobQueue::Cancel(const JobPtr& job) {
  std::shared_ptr<JobRunner> runner;
  bool news = false;
  {
    sync::MutexLock lock(mutex_);
    job->cancelled_.store(true, std::memory_order_release);
    if (job->place_ == QueuedJob::Place::kQueued) {
      EndQueued(job, MakeError(Reason::kCancelled, "the call was cancelled"));
      news = true;
    } else {
      runner = job->runner_;
    }
  }
  if (runner != nullptr) runner->WakeUp();
  if (news) news_();
}

std::vector<JobQueue::Ended> JobQueue::TakeEnded(Clock::time_point now) {
  sync::MutexLock lock(mutex_);
  while (!expiries_.empty() && expiries_.begin()->first <= now) {
    QueuedJob& job = *expiries_.begin()->second;
    EndQueued(*job.position_,
              job.deadline <= now
                  ? MakeError(Reason::kDeadline, "the deadline passed before a worker was free")
                  : MakeError(Reason::kOverloaded,
                              "no worker was free within the longest wait; try again later"));
  }
  // A time that is armed stays so when its job was taken: else each job of a queue that is often
  // empty would have to tell of its own.
  if (!expiries_.empty()) {
    armed_for_ = expiries_.begin()->first;
  } else if (armed_for_ <= now) {
    armed_for_ = Clock::time_point::max();
  }
  std::vector<Ended> ended = std::exchange(ended_, {});
  if (EmptyLocked()) emptied_.SignalAll();
  return ended;
}

Clock::time_point JobQueue::next_expiry() const {
  sync::MutexLock lock(mutex_);
  return armed_for_;
}

void JobQueue::SetUnavailable(std::optional<absl::Status> why) {
  bool news = false;
  {
    sync::MutexLock lock(mutex_);
    if (why && !closed_) {
      EndAllQueued(*why);
      news = true;
    }
    unavailable_ = std::move(why);
  }
  if (news) news_();
}

void JobQueue::Close(absl::Status why) {
  sync::MutexLock lock(mutex_);
  if (!closed_) closed_ = std::move(why);
}

void JobQueue::Abandon() {
  {
    sync::MutexLock lock(mutex_);
    abandoned_ = true;
    if (closed_) EndAllQueued(*closed_);
  }
  news_();
}

bool JobQueue::TakeStartRequest() {
  sync::MutexLock lock(mutex_);
  return std::exchange(start_requested_, false);
}

bool JobQueue::SleepIfIdle(Clock::time_point before) {
  sync::MutexLock lock(mutex_);
  if (!EmptyLocked() || asleep_ || last_job_ >= before) return false;
  asleep_ = true;
  unavailable_.reset();
  return true;
}

void JobQueue::StayAwake() {
  sync::MutexLock lock(mutex_);
  asleep_ = false;
}

bool JobQueue::EmptyLocked() const {
  return unary_.jobs.empty() && stream_.jobs.empty() && running_ == 0 && answered_ == 0 &&
         ended_.empty();
}

bool JobQueue::WaitUntilEmpty(Clock::time_point deadline) {
  sync::MutexLock lock(mutex_);
  while (!EmptyLocked()) {
    if (Clock::now() >= deadline) return false;
    emptied_.WaitUntil(mutex_, deadline);
  }
  return true;
}

uint32_t JobQueue::length() const {
  sync::MutexLock lock(mutex_);
  return static_cast<uint32_t>(unary_.jobs.size() + stream_.jobs.size());
}

}  // namespace pgparsed::pool
