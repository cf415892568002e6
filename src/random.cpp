#include "random.h"
#include <algorithm>
#include <cstring>

#if defined(_WIN32)
// Before bcrypt.h, which needs its types; the blank line keeps clang-format from sorting them.
#include <windows.h>

#include <bcrypt.h>
#elif defined(__linux__)
#include <cerrno>
#include <sys/random.h>
#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__OpenBSD__) || defined(__NetBSD__) || \
    defined(__DragonFly__)
#include <stdlib.h>
#else
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#endif

namespace confide {

void wipe(void *memory, std::size_t bytes) {
  // The compiler cannot know what a volatile pointer points to, so the call has to be made.
  void *(*const volatile set)(void *, int, std::size_t) = std::memset;
  set(memory, 0, bytes);
}

RandomSource::~RandomSource() {
  wipe(buffer_.data(), sizeof buffer_);
  wipe(&spare_bits_, sizeof spare_bits_);
}

void RandomSource::fill() {
  next_ = filled_ = 0; // nothing is handed out if refill() throws
  const std::size_t written = refill(buffer_.data(), buffer_.size());
  if (written == 0 || written > buffer_.size())
    throw RandomnessError("The source of randomness returned no words.");
  filled_ = written;
}

std::size_t OsRandom::refill(std::uint64_t *words, std::size_t capacity) {
  const std::size_t count = std::min<std::size_t>(batch_, capacity);
  os_random_bytes(words, count * sizeof *words);
  batch_ = std::min<std::size_t>(2 * count, capacity);
  return count;
}

#if defined(_WIN32)

void os_random_bytes(void *out, std::size_t n) {
  auto *bytes = static_cast<unsigned char *>(out);
  while (n > 0) {
    const auto chunk = static_cast<ULONG>(std::min<std::size_t>(n, 1u << 20));
    if (BCryptGenRandom(nullptr, bytes, chunk, BCRYPT_USE_SYSTEM_PREFERRED_RNG) != 0)
      throw RandomnessError("The operating system (BCryptGenRandom) returned no random bytes.");
    bytes += chunk;
    n -= chunk;
  }
}

#elif defined(__linux__)

void os_random_bytes(void *out, std::size_t n) {
  auto *bytes = static_cast<unsigned char *>(out);
  while (n > 0) {
    const ssize_t got = getrandom(bytes, n, 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      throw RandomnessError("The operating system (getrandom) returned no random bytes.");
    bytes += got;
    n -= static_cast<std::size_t>(got);
  }
}

#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__OpenBSD__) || defined(__NetBSD__) || \
    defined(__DragonFly__)

void os_random_bytes(void *out, std::size_t n) { arc4random_buf(out, n); }

#else

namespace {

// Reads without a buffer of its own, which would keep a copy of the bytes.
class RandomDevice {
public:
  RandomDevice() : descriptor_(open("/dev/urandom", O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0)
      throw RandomnessError("The operating system's /dev/urandom cannot be opened.");
  }
  RandomDevice(const RandomDevice &) = delete;
  RandomDevice &operator=(const RandomDevice &) = delete;
  ~RandomDevice() { close(descriptor_); }

  ssize_t read_some(void *out, std::size_t n) const { return read(descriptor_, out, n); }

private:
  int descriptor_;
};

} // namespace

void os_random_bytes(void *out, std::size_t n) {
  const RandomDevice device;
  auto *bytes = static_cast<unsigned char *>(out);
  while (n > 0) {
    const ssize_t got = device.read_some(bytes, n);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      throw RandomnessError("The operating system (/dev/urandom) returned no random bytes.");
    bytes += got;
    n -= static_cast<std::size_t>(got);
  }
}

#endif

} // namespace confide
