#include "pool/worker_handle.h"

#include <pthread.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "channel/sections.h"
#include "pgparsed/errors.h"
#include "pool/description.h"

namespace pgparsed::pool {

using Outcome = channel::FrontEnd::Outcome;

WorkerHandle::WorkerHandle(Shared shared) : shared_(shared), feeder_([this] { Feed(); }) {}

WorkerHandle::~WorkerHandle() {
  {
    sync::MutexLock lock(mutex_);
    stopping_ = true;
    changed_.Signal();
  }
  feeder_.join();
}

void WorkerHandle::Give(std::shared_ptr<WorkerProcess> process) {
  sync::MutexLock lock(mutex_);
  next_ = std::move(process);
  changed_.Signal();
}

std::shared_ptr<WorkerProcess> WorkerHandle::NextProcess() {
  sync::MutexLock lock(mutex_);
  while (next_ == nullptr && !stopping_) changed_.Wait(mutex_);
  return stopping_ ? nullptr : std::exchange(next_, nullptr);
}

void WorkerHandle::Feed() {
  pthread_setname_np(pthread_self(), absl::StrCat("feed-", shared_.group.major).c_str());
  while (const auto process = NextProcess()) {
    if (!Introduce(*process)) continue;
    Serve(process);
    shared_.group.queue->WakeAll();  // a spare may go on
  }
}

bool WorkerHandle::Introduce(WorkerProcess& process) {
  channel::FrontEnd& channel = process.channel();
  const auto dead = [&] { return process.dead(); };
  const auto useless = [&](std::string why) {
    process.set_start_error(std::move(why));
    process.Kill(KillReason::kBadStart);
    return false;
  };
  const auto slot = channel.TakeSlot(dead);
  if (!slot) return false;
  const std::shared_ptr<void> lease = channel.Lease(*slot);
  if (absl::Status put = channel.PutJob(*slot, DescribeJob(), "", ""); !put.ok()) {
    return useless(std::string(put.message()));
  }
  switch (channel.WaitForAnswer(*slot, process.started() + kStartTimeout, dead)) {
    case Outcome::kGaveUp:
      return false;
    case Outcome::kTimeout:
      return useless(
          absl::StrCat("it did not introduce itself within ", kStartTimeout.count(), " s"));
    case Outcome::kStalled:
    case Outcome::kBroken:
      return useless("it broke the rules of the channel");
    case Outcome::kAnswered:
      break;
  }
  auto description = ReadDescription(channel.AnswerIn(*slot), shared_.group.major);
  if (!description.ok()) return useless(std::string(description.status().message()));
  return shared_.group.OnReady(process, *std::move(description));
}

void WorkerHandle::Serve(const std::shared_ptr<WorkerProcess>& process) {
  channel::FrontEnd& channel = process->channel();
  const auto over = [&] { return process->dead() || process->retiring(); };
  Assignment next;
  for (;;) {
    // The slot first: a job must not leave the queue for a worker that cannot take it yet.
    if (next.lease == nullptr) {
      if (!channel.HasFreeSlot()) shared_.group.queue->WakeAll();  // a spare may
      const auto slot = channel.TakeSlot(over);
      if (!slot) break;
      next = {.slot = *slot, .lease = channel.Lease(*slot)};
    }
    if (next.job == nullptr) {
      next.job = shared_.group.queue->Pop(process, over, [&] { channel.Trim(next.slot); });
      if (next.job == nullptr) break;
      Begin(*process, next);
      if (next.job == nullptr) continue;
    }
    process->busy.store(true, std::memory_order_relaxed);
    const bool goes_on = Run(process, std::exchange(next, {}), next);
    process->busy.store(false, std::memory_order_relaxed);
    if (!goes_on) return;
  }
  if (process->retiring()) process->Kill(process->retire_reason());
}

// Puts the job into its slot. Without a job afterwards: it was too large, and is answered.
void WorkerHandle::Begin(WorkerProcess& process, Assignment& assignment) {
  QueuedJob& job = *assignment.job;
  job.started = Clock::now();
  if (job.first_started == Clock::time_point()) job.first_started = job.started;
  process.jobs_taken.fetch_add(1, std::memory_order_relaxed);
  if (process.channel()
          .PutJob(assignment.slot, job.job.header, job.job.text, job.job.comments)
          .ok()) {
    return;
  }
  Answer(std::exchange(assignment.job, nullptr),
         MakeError(Reason::kQueryTooLarge, "the query is larger than a worker takes"));
}

// So that the worker has something to do while the answer that it gave is handed on.
void WorkerHandle::BeginNext(const std::shared_ptr<WorkerProcess>& process,
                             const JobQueue::JobPtr& answered, Assignment& next) {
  channel::FrontEnd& channel = process->channel();
  const auto over = [&] { return process->dead() || process->retiring(); };
  if (!channel.HasFreeSlot()) return;
  const auto slot = channel.TakeSlot(over);
  if (!slot) return;
  next = {.slot = *slot,
          .lease = channel.Lease(*slot),
          .job = shared_.group.queue->TakeNext(answered, process)};
  if (next.job != nullptr) Begin(*process, next);
}

Outcome WorkerHandle::Wait(WorkerProcess& process, uint32_t slot,
                           const std::shared_ptr<void>& lease, QueuedJob& job) {
  channel::FrontEnd& channel = process.channel();
  const auto interrupted = [&] { return job.cancelled() || process.dead(); };
  if (job.job.on_piece == nullptr) {
    return channel.WaitForAnswer(slot, std::min(job.started + shared_.max_job_time, job.deadline),
                                 interrupted);
  }
  // What an earlier run has handed out is left out of this one: the same text makes the same tree.
  uint64_t known = job.piece_bytes;
  const auto take = [&](std::string_view piece, std::shared_ptr<void> piece_lease) {
    const uint64_t skipped = std::min<uint64_t>(known, piece.size());
    known -= skipped;
    piece.remove_prefix(skipped);
    if (piece.empty()) return;
    job.piece_bytes += piece.size();
    job.job.on_piece(piece, std::move(piece_lease));
  };
  return channel.WaitForPieces(
      slot, lease,
      {.work = shared_.max_job_time, .stall = shared_.max_stall, .deadline = job.deadline},
      interrupted, take);
}

// Sees a job that was begun to its end. Returns whether the worker can take another one, which may
// have begun as `next`.
bool WorkerHandle::Run(const std::shared_ptr<WorkerProcess>& worker, Assignment current,
                       Assignment& next) {
  WorkerProcess& process = *worker;
  channel::FrontEnd& channel = process.channel();
  const uint32_t slot = current.slot;
  const JobQueue::JobPtr& job = current.job;
  switch (Wait(process, slot, current.lease, *job)) {
    case Outcome::kAnswered: {
      auto answer = channel::ReadAnswer(channel.AnswerIn(slot));
      if (!answer.ok()) break;
      Counters::Add(shared_.counters.jobs_done);
      BeginNext(worker, job, next);
      Answer(job, JobAnswer{*std::move(answer), std::move(current.lease),
                            absl::FromChrono(job->started - job->submitted)});
      return true;
    }
    case Outcome::kTimeout:
      if (job->deadline <= Clock::now()) {
        Answer(job, MakeError(Reason::kDeadline,
                              "the deadline passed while the query was worked "
                              "on"));
        return GiveGrace(process, slot);
      }
      process.Kill(KillReason::kTime);
      Answer(job,
             MakeError(Reason::kParserTimeLimit,
                       absl::StrCat("the query took longer than the server's limit of ",
                                    absl::FormatDuration(absl::FromChrono(shared_.max_job_time)))));
      return false;
    case Outcome::kStalled:
      process.Kill(KillReason::kTime);
      Answer(job, MakeError(Reason::kCancelled,
                            absl::StrCat("the client took nothing of the answer for ",
                                         absl::FormatDuration(absl::FromChrono(shared_.max_stall)),
                                         "; read faster, or ask for less")));
      return false;
    case Outcome::kGaveUp:
      if (job->cancelled()) {
        Answer(job, MakeError(Reason::kCancelled, "the call was cancelled"));
        return GiveGrace(process, slot);
      }
      AfterDeath(process, slot, job);
      return false;
    case Outcome::kBroken:
      break;
  }
  process.Kill(KillReason::kBadAnswer);
  AfterDeath(process, slot, job);
  return false;
}

bool WorkerHandle::GiveGrace(WorkerProcess& process, uint32_t slot) {
  shared_.group.queue->WakeAll();  // a spare may go on meanwhile
  const auto dead = [&] { return process.dead(); };
  if (process.channel().WaitForAnswer(slot, Clock::now() + kGrace, dead) == Outcome::kAnswered) {
    return true;
  }
  process.Kill(KillReason::kTime);
  return false;
}

// Decides what becomes of a job whose worker is dead, or was killed for breaking the rules.
void WorkerHandle::AfterDeath(WorkerProcess& process, uint32_t slot, const JobQueue::JobPtr& job) {
  switch (process.kill_reason()) {
    case KillReason::kStopped:
      // Not the job's fault. When the pool stops, the queue ends it.
      shared_.group.queue->PushAgain(job);
      return;
    case KillReason::kNone:
      if (process.channel().last_words() == channel::LastWords::kStackOverflow) {
        Answer(job, MakeError(Reason::kNestingTooDeep,
                              "the query is nested deeper than the parser takes"));
        return;
      }
      if (process.channel().last_words() == channel::LastWords::kMemoryLimit) {
        Answer(job, MakeError(Reason::kParserMemoryLimit,
                              "the query needs more memory than a parser may have"));
        return;
      }
      if (!process.channel().WasTaken(slot) && job->never_begun < kMostNeverBegun) {
        ++job->never_begun;
        Counters::Add(shared_.counters.jobs_retried);
        shared_.group.queue->PushAgain(job);
        return;
      }
      if (process.killed_from_outside() && job->outside_kills < kMostOutsideKills &&
          Clock::now() - job->first_started < shared_.max_job_time) {
        ++job->outside_kills;
        Counters::Add(shared_.counters.jobs_retried);
        shared_.group.queue->PushAgain(job);
        return;
      }
      break;
    default:
      break;
  }
  if (job->job.ends_with_worker) {
    Answer(job, MakeError(Reason::kParserCrashed, "a worker died while it ran these queries"));
    return;
  }
  if (++job->deaths < 2) {
    Counters::Add(shared_.counters.jobs_retried);
    shared_.group.queue->PushAgain(job);
    return;
  }
  shared_.crashes.Remember(job->job.header, job->job.text, job->job.comments, Clock::now());
  Answer(job, MakeError(Reason::kParserCrashed,
                        "the query crashed the parser twice; it will be refused for a while"));
}

void WorkerHandle::Answer(const JobQueue::JobPtr& job, absl::StatusOr<JobAnswer> outcome) {
  job->End(std::move(outcome));
  shared_.group.queue->Finish(job);
}

}  // namespace pgparsed::pool
