#include "pool/crash_memory.h"

#include <sys/random.h>
#include <xxhash.h>

#include <random>
#include <utility>

namespace pgparsed::pool {

CrashMemory::CrashMemory(uint32_t max_entries, Clock::duration keep)
    : max_entries_(max_entries), keep_(keep) {
  static_assert(sizeof(secret_) >= XXH3_SECRET_SIZE_MIN);
  if (getrandom(secret_.data(), secret_.size(), 0) != static_cast<ssize_t>(secret_.size())) {
    std::random_device random;
    for (unsigned char& byte : secret_) byte = static_cast<unsigned char>(random());
  }
}

CrashMemory::Key CrashMemory::KeyOf(channel::JobHeader header, std::string_view text,
                                    std::string_view comments) const {
  header.text_bytes = text.size();
  header.comments_bytes = comments.size();
  const auto hash = [this](const void* bytes, size_t size) {
    return XXH3_128bits_withSecret(bytes, size, secret_.data(), secret_.size());
  };
  const struct {
    channel::JobHeader header;
    XXH128_hash_t text;
    XXH128_hash_t comments;
  } parts{header, hash(text.data(), text.size()), hash(comments.data(), comments.size())};
  static_assert(sizeof(parts) == 80 + 2 * 16, "no padding: hashed as bytes");
  const XXH128_hash_t all = hash(&parts, sizeof(parts));
  return {all.low64, all.high64};
}

void CrashMemory::DropOldest() {
  const Entry& entry = oldest_first_.front();
  // A key that was remembered again has a later entry behind this one.
  if (auto it = until_.find(entry.key); it != until_.end() && it->second == entry.until) {
    until_.erase(it);
  }
  oldest_first_.pop_front();
}

void CrashMemory::DropExpired(Clock::time_point now) {
  while (!oldest_first_.empty() && oldest_first_.front().until <= now) DropOldest();
  size_.store(static_cast<uint32_t>(until_.size()), std::memory_order_relaxed);
}

void CrashMemory::Remember(const channel::JobHeader& header, std::string_view text,
                           std::string_view comments, Clock::time_point now) {
  if (max_entries_ == 0) return;
  const Entry entry{now + keep_, KeyOf(header, text, comments)};
  sync::MutexLock lock(mutex_);
  DropExpired(now);
  if (oldest_first_.size() >= max_entries_) DropOldest();
  until_[entry.key] = entry.until;
  oldest_first_.push_back(entry);
  size_.store(static_cast<uint32_t>(until_.size()), std::memory_order_relaxed);
}

bool CrashMemory::Remembers(const channel::JobHeader& header, std::string_view text,
                            std::string_view comments, Clock::time_point now) {
  if (size() == 0) return false;
  const Key key = KeyOf(header, text, comments);
  sync::MutexLock lock(mutex_);
  DropExpired(now);
  return until_.contains(key);
}

}  // namespace pgparsed::pool
