// Starts, watches, reaps and replaces the worker processes of every grammar, and ends the jobs that
// no worker will see (expired or cancelled in the queue).
//
// One thread does it all: spawning must be one thread's work, because the kernel ties a worker to
// the thread that spawned it (PDEATHSIG), and it must live as long as the workers. It sleeps in
// epoll on the processes' pidfds and a WakeSignal.
//
// A dead worker is replaced at once, before its feeder even asks. Only starts that fail are held
// back (10 ms, doubled up to 5 s), and workers that keep dying within a second of their start
// without a job (up to 250 ms): a query that kills its workers must not slow down the others.
//
// Memory. A second or so after a worker had jobs its memory is looked at. One that keeps more than
// its budget is asked to purge; if that did not help it is replaced, when it has no job and all
// others, the spare included, are ready. So are workers whose replacement an operator wants, one
// after the other.
//
// Spares. A grammar that is in use has a process more than run jobs at a time (Options::spares). It
// is ready like the others, and the queue lets only so many run at once: so when a worker dies the
// spare goes on in its place at once, while the dead one's replacement starts.
//
// Thread-safety: SetWanted and Stop may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "pool/counters.h"
#include "pool/crash_memory.h"
#include "pool/grammar_group.h"
#include "pool/log_budget.h"
#include "pool/pool.h"
#include "pool/wake_signal.h"
#include "pool/worker_handle.h"
#include "pool/worker_process.h"

namespace pgparsed::pool {

class Supervisor {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    uint32_t default_grammar = 0;
    uint32_t workers = 1;  // of a grammar that is in use
    uint32_t spares = 0;   // more of them
    Clock::duration grammar_idle_timeout{};
    Clock::duration max_job_time{};
    Clock::duration max_stall{};
    uint64_t worker_memory_limit = 0;
    uint64_t worker_memory_budget = 0;
    channel::ChannelOptions channel;
  };

  // `groups`, `crashes` and `counters` must outlive it. `signal` is what the queues' news set.
  Supervisor(Options options, std::vector<GrammarGroup*> groups, CrashMemory& crashes,
             Counters& counters, std::shared_ptr<WakeSignal> signal);
  ~Supervisor();

  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Starts the thread.
  absl::Status Start();

  // How many processes a grammar shall have, spares included. Takes effect soon.
  void SetWanted(uint32_t grammar, uint32_t workers);

  // Something that it does not hear of by itself has changed.
  void LookAround() { signal_->Set(); }

  // Kills and reaps every worker, ends what is left in the queues (which must be closed and
  // abandoned), and the thread. Blocks until then. Once more does nothing.
  void Stop();

 private:
  // A place for a worker process. Used by the thread only.
  struct Seat {
    GrammarGroup* group = nullptr;
    std::unique_ptr<WorkerHandle> handle;
    std::shared_ptr<WorkerProcess> process;  // null: none at the moment
    Clock::time_point respawn_at{};
    uint32_t failed_starts = 0;  // in a row
    uint32_t quick_deaths = 0;   // in a row
    uint32_t jobs_seen = 0;      // when the memory was last looked at
    bool purge_asked = false;    // and nothing was looked at since
  };
  struct Team {
    GrammarGroup* group = nullptr;
    std::atomic<uint32_t> wanted{0};
    std::vector<std::unique_ptr<Seat>> seats;  // used by the thread only
  };

  void Run();
  void Reconcile(Team& team, Clock::time_point now);
  void EndJobs(GrammarGroup& group);
  void LookAtMemory(Team& team);
  void RetireOne(Team& team);
  static bool WantsLook(const Seat& seat);
  static bool CanSpareOne(const Team& team);
  void Spawn(Seat& seat);
  void OnDeath(Seat& seat);
  void HoldBack(Seat& seat, bool was_ready, Clock::time_point now);
  void KillAll(KillReason reason);
  bool AnyAlive() const;
  Clock::time_point NextWake(Clock::time_point now) const;
  void WaitForEvents(Clock::time_point until);

  const Options options_;
  CrashMemory& crashes_;
  Counters& counters_;
  const std::shared_ptr<WakeSignal> signal_;
  std::vector<std::unique_ptr<Team>> teams_;  // const after the constructor
  int epoll_ = -1;
  Clock::time_point next_look_{};  // at the memory of workers
  LogBudget log_budget_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace pgparsed::pool
