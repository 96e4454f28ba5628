#include "bench/large_stack.h"

#include <pthread.h>

#include <cstddef>

namespace pgparsed::bench {
namespace {

constexpr size_t kStackBytes = size_t{1} << 30;

void* Run(void* argument) {
  (*static_cast<const std::function<void()>*>(argument))();
  return nullptr;
}

}  // namespace

bool RunOnLargeStack(const std::function<void()>& run) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  std::function<void()> argument = run;
  const bool started = pthread_create(&thread, &attributes, Run, &argument) == 0;
  pthread_attr_destroy(&attributes);
  if (started) pthread_join(thread, nullptr);
  return started;
}

}  // namespace pgparsed::bench
