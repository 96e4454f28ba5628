#include "pool/supervisor.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include <spdlog/spdlog.h>

#include "absl/strings/str_cat.h"
#include "pool/process_memory.h"

namespace pgparsed::pool {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstHoldBack{10};
constexpr milliseconds kLongestFailedHoldBack{5000};
constexpr milliseconds kLongestQuickHoldBack{250};
constexpr uint32_t kQuickDeathsAtOnce = 3;
constexpr std::chrono::seconds kQuick{1};

// SIGKILL does its work at once unless the machine is in great trouble.
constexpr std::chrono::seconds kLongestReap{5};

// At the memory of workers that had jobs.
constexpr std::chrono::seconds kBetweenLooks{1};
// Until the next worker of those that shall be replaced.
constexpr milliseconds kRetirePause{10};

// What a worker that was killed counts as; nullopt when the pool or a failed start killed it.
std::optional<RecycleReason> RecycleReasonOf(KillReason reason) {
  switch (reason) {
    case KillReason::kNone:
    case KillReason::kBadAnswer:
      return RecycleReason::kCrash;
    case KillReason::kTime:
      return RecycleReason::kTime;
    case KillReason::kMemory:
      return RecycleReason::kMemory;
    case KillReason::kRequest:
      return RecycleReason::kRequest;
    case KillReason::kStopped:
      return RecycleReason::kIdle;
    case KillReason::kBadStart:
      return std::nullopt;
  }
  return std::nullopt;
}

milliseconds Doubled(milliseconds first, uint32_t times, milliseconds most) {
  return std::min(most, first * (1 << std::min(times, 16u)));
}

}  // namespace

Supervisor::Supervisor(Options options, std::vector<GrammarGroup*> groups, CrashMemory& crashes,
                       Counters& counters, std::shared_ptr<WakeSignal> signal)
    : options_(std::move(options)),
      crashes_(crashes),
      counters_(counters),
      signal_(std::move(signal)) {
  for (GrammarGroup* group : groups) {
    auto team = std::make_unique<Team>();
    team->group = group;
    teams_.push_back(std::move(team));
  }
}

Supervisor::~Supervisor() {
  Stop();
  if (epoll_ >= 0) close(epoll_);
}

absl::Status Supervisor::Start() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;  // the signal; every other event is a Seat
  if (epoll_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, signal_->fd(), &event) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot watch worker processes: ", std::strerror(errno)));
  }
  thread_ = std::thread([this] { Run(); });
  return absl::OkStatus();
}

void Supervisor::SetWanted(uint32_t grammar, uint32_t workers) {
  for (const auto& team : teams_) {
    if (team->group->major == grammar) team->wanted.store(workers, std::memory_order_release);
  }
  signal_->Set();
}

void Supervisor::Stop() {
  if (!thread_.joinable()) return;
  stopping_.store(true, std::memory_order_release);
  signal_->Set();
  thread_.join();
}

void Supervisor::Run() {
  pthread_setname_np(pthread_self(), "supervisor");
  while (!stopping_.load(std::memory_order_acquire)) {
    const Clock::time_point now = Clock::now();
    for (const auto& team : teams_) Reconcile(*team, now);
    if (now >= next_look_) next_look_ = now + kBetweenLooks;
    WaitForEvents(NextWake(Clock::now()));
  }
  KillAll(KillReason::kStopped);
  const Clock::time_point give_up = Clock::now() + kLongestReap;
  while (AnyAlive() && Clock::now() < give_up) {
    KillAll(KillReason::kStopped);
    WaitForEvents(give_up);
  }
  for (const auto& team : teams_) {
    for (const auto& seat : team->seats) seat->handle.reset();
    EndJobs(*team->group);
  }
}

void Supervisor::Reconcile(Team& team, Clock::time_point now) {
  GrammarGroup& group = *team.group;
  if (group.queue->TakeStartRequest()) {
    spdlog::info("grammar {} starts: its first job came", group.major);
    team.wanted.store(options_.workers + options_.spares, std::memory_order_release);
  } else if (group.major != options_.default_grammar &&
             group.queue->SleepIfIdle(now - options_.grammar_idle_timeout)) {
    spdlog::info("grammar {} stops: it was idle", group.major);
    team.wanted.store(0, std::memory_order_release);
  }
  const uint32_t wanted = team.wanted.load(std::memory_order_acquire);
  while (team.seats.size() < wanted) {
    auto seat = std::make_unique<Seat>();
    seat->group = &group;
    seat->handle = std::make_unique<WorkerHandle>(WorkerHandle::Shared{
        group, crashes_, counters_, options_.max_job_time, options_.max_stall});
    team.seats.push_back(std::move(seat));
  }
  for (uint32_t i = 0; i < team.seats.size(); ++i) {
    Seat& seat = *team.seats[i];
    if (i >= wanted) {
      if (seat.process != nullptr) seat.process->Kill(KillReason::kStopped);
    } else if (seat.process == nullptr && seat.respawn_at <= now) {
      Spawn(seat);
    }
  }
  EndJobs(group);
  if (wanted == 0) return;
  if (now >= next_look_) LookAtMemory(team);
  RetireOne(team);
}

bool Supervisor::WantsLook(const Seat& seat) {
  if (seat.process == nullptr || seat.process->retiring()) return false;
  return seat.purge_asked ||
         seat.process->jobs_taken.load(std::memory_order_relaxed) != seat.jobs_seen;
}

void Supervisor::LookAtMemory(Team& team) {
  for (const auto& seat : team.seats) {
    if (!WantsLook(*seat) || seat->process->busy.load(std::memory_order_relaxed)) continue;
    const uint32_t jobs = seat->process->jobs_taken.load(std::memory_order_relaxed);
    const uint64_t kept = ReadAnonymousMemory(seat->process->pid()).value_or(0);
    if (kept <= options_.worker_memory_budget) {
      seat->jobs_seen = jobs;
      seat->purge_asked = false;
    } else if (!seat->purge_asked) {
      seat->purge_asked = true;
      seat->process->channel().AskForPurge();
    } else if (CanSpareOne(team)) {
      seat->purge_asked = false;
      if (log_budget_.Take(Clock::now())) {
        spdlog::info("worker replaced: grammar {}, pid {}: it keeps {} MiB, more than its budget",
                     team.group->major, seat->process->pid(), kept >> 20);
      }
      seat->process->Retire(KillReason::kMemory);
      team.group->queue->WakeAll();
    }
  }
}

// Whether all workers and spares are ready, and none is about to go.
bool Supervisor::CanSpareOne(const Team& team) {
  if (team.group->ready_with_spares() < team.wanted.load(std::memory_order_acquire)) return false;
  return std::none_of(team.seats.begin(), team.seats.end(), [](const auto& seat) {
    return seat->process != nullptr && seat->process->retiring();
  });
}

void Supervisor::RetireOne(Team& team) {
  for (const auto& seat : team.seats) {
    if (seat->process == nullptr ||
        !seat->process->replacement_wanted.load(std::memory_order_acquire)) {
      continue;
    }
    if (!CanSpareOne(team)) return;
    seat->process->replacement_wanted.store(false, std::memory_order_relaxed);
    seat->process->Retire(KillReason::kRequest);
    team.group->queue->WakeAll();
    return;
  }
}

void Supervisor::EndJobs(GrammarGroup& group) {
  for (JobQueue::Ended& ended : group.queue->TakeEnded(Clock::now())) {
    ended.job->End(std::move(ended.why));
  }
}

void Supervisor::Spawn(Seat& seat) {
  GrammarGroup& group = *seat.group;
  auto process = WorkerProcess::Spawn({.path = group.path,
                                       .grammar = group.major,
                                       .memory_limit = options_.worker_memory_limit,
                                       .channel = options_.channel});
  const Clock::time_point now = Clock::now();
  std::string failure;
  if (process.ok()) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &seat;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, (*process)->pidfd(), &event) == 0) {
      Counters::Add(counters_.workers_started);
      if (log_budget_.Take(now)) {
        spdlog::info("worker started: grammar {}, pid {}", group.major, (*process)->pid());
      }
      seat.process = *std::move(process);
      seat.jobs_seen = 0;
      seat.purge_asked = false;
      group.OnStart(seat.process);
      seat.handle->Give(seat.process);
      return;
    }
    failure = absl::StrCat("cannot watch '", group.path, "': ", std::strerror(errno));
    (*process)->Kill(KillReason::kBadStart);
    (*process)->Reap();
  } else {
    failure = std::string(process.status().message());
  }
  if (log_budget_.Take(now))
    spdlog::error("worker not started: grammar {}: {}", group.major, failure);
  group.OnFailedStart(failure);
  HoldBack(seat, /*was_ready=*/false, now);
}

void Supervisor::OnDeath(Seat& seat) {
  const std::shared_ptr<WorkerProcess> process = std::exchange(seat.process, nullptr);
  GrammarGroup& group = *seat.group;
  const KillReason reason = process->kill_reason();
  // Counted before the feeder can know of it, so that who sees a job's end sees the count too.
  if (reason == KillReason::kTime) Counters::Add(counters_.workers_killed_for_time);
  if (reason == KillReason::kNone || reason == KillReason::kBadAnswer) {
    Counters::Add(counters_.workers_crashed);
  }
  if (const auto recycled = RecycleReasonOf(reason)) {
    Counters::Add(group.recycles[static_cast<size_t>(*recycled)]);
  }
  epoll_ctl(epoll_, EPOLL_CTL_DEL, process->pidfd(), nullptr);
  process->Reap();
  const bool was_ready = group.OnDeath(*process);
  process->WakeUp();
  group.queue->WakeAll();

  const Clock::time_point now = Clock::now();
  if (reason == KillReason::kStopped || reason == KillReason::kMemory ||
      reason == KillReason::kRequest) {
    seat.respawn_at = now;
    return;
  }
  if (!was_ready) {
    const std::string error = process->start_error();
    const std::string failure =
        error.empty() ? absl::StrCat("the worker '", group.path, "' died at its start (",
                                     process->death(), "); what it said itself stands above")
                      : absl::StrCat("the worker '", group.path, "' is of no use: ", error);
    if (log_budget_.Take(now)) spdlog::error("{}", failure);
    group.OnFailedStart(failure);
  } else if (log_budget_.Take(now)) {
    switch (reason) {
      case KillReason::kTime:
        spdlog::info("worker stopped: grammar {}, pid {}: its job's time was over", group.major,
                     process->pid());
        break;
      case KillReason::kBadAnswer:
        spdlog::warn("worker killed: grammar {}, pid {}: its answer broke the channel's rules",
                     group.major, process->pid());
        break;
      default:
        spdlog::warn("worker died: grammar {}, pid {}: {}", group.major, process->pid(),
                     process->death());
    }
  }
  if (process->jobs_taken.load(std::memory_order_relaxed) > 0 ||
      now - process->started() > kQuick) {
    seat.failed_starts = 0;
    seat.quick_deaths = 0;
    seat.respawn_at = now;
  } else {
    HoldBack(seat, was_ready, now);
  }
}

void Supervisor::HoldBack(Seat& seat, bool was_ready, Clock::time_point now) {
  seat.respawn_at = now;
  if (!was_ready) {
    seat.respawn_at += Doubled(kFirstHoldBack, seat.failed_starts++, kLongestFailedHoldBack);
    return;
  }
  seat.failed_starts = 0;
  if (++seat.quick_deaths > kQuickDeathsAtOnce) {
    seat.respawn_at +=
        Doubled(kFirstHoldBack, seat.quick_deaths - kQuickDeathsAtOnce, kLongestQuickHoldBack);
  }
}

void Supervisor::KillAll(KillReason reason) {
  for (const auto& team : teams_) {
    for (const auto& seat : team->seats) {
      if (seat->process != nullptr) seat->process->Kill(reason);
    }
  }
}

bool Supervisor::AnyAlive() const {
  return std::any_of(teams_.begin(), teams_.end(), [](const auto& team) {
    return std::any_of(team->seats.begin(), team->seats.end(),
                       [](const auto& seat) { return seat->process != nullptr; });
  });
}

Supervisor::Clock::time_point Supervisor::NextWake(Clock::time_point now) const {
  Clock::time_point wake = Clock::time_point::max();
  for (const auto& team : teams_) {
    wake = std::min(wake, team->group->queue->next_expiry());
    const uint32_t wanted = team->wanted.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < wanted && i < team->seats.size(); ++i) {
      if (team->seats[i]->process == nullptr) wake = std::min(wake, team->seats[i]->respawn_at);
    }
    for (const auto& seat : team->seats) {
      if (WantsLook(*seat)) wake = std::min(wake, next_look_);
      if (seat->process != nullptr &&
          seat->process->replacement_wanted.load(std::memory_order_acquire)) {
        wake = std::min(wake, now + kRetirePause);
      }
    }
    if (wanted > 0 && team->group->major != options_.default_grammar) {
      wake = std::min(wake, now + std::max<Clock::duration>(options_.grammar_idle_timeout / 8,
                                                            milliseconds(10)));
    }
  }
  return wake;
}

void Supervisor::WaitForEvents(Clock::time_point until) {
  int timeout_ms = -1;
  if (until != Clock::time_point::max()) {
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
    timeout_ms = static_cast<int>(std::clamp<milliseconds::rep>(left.count(), 0, 60'000));
  }
  std::array<epoll_event, 16> events;
  const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), timeout_ms);
  for (int i = 0; i < count; ++i) {
    auto* seat = static_cast<Seat*>(events[static_cast<size_t>(i)].data.ptr);
    if (seat == nullptr) {
      signal_->Clear();
    } else if (seat->process != nullptr) {
      OnDeath(*seat);
    }
  }
}

}  // namespace pgparsed::pool
