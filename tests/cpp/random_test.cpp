#include "choice_tree.h"
#include "support.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <new>
#include <random>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace confide;

namespace {

constexpr std::uint64_t pattern = 0xA5A5A5A5A5A5A5A5;
constexpr std::uint64_t half = std::uint64_t{1} << 63;

// Fills the whole buffer with one pattern and lets the test look at it.
class TransparentRandom final : public RandomSource {
public:
  const std::uint64_t *buffer = nullptr;
  std::size_t capacity = 0;

protected:
  std::size_t refill(std::uint64_t *words, std::size_t size) override {
    buffer = words;
    capacity = size;
    std::fill_n(words, size, pattern);
    return size;
  }
};

class FailingRandom final : public RandomSource {
protected:
  std::size_t refill(std::uint64_t *, std::size_t) override { return 0; }
};

// How many of the words first, ..., last are accepted by below(n), where all of them stand for the
// result y and only the three at either end can be rejected.
u128 accepted_words(ScriptedRandom &random, std::uint64_t n, std::uint64_t y) {
  const u128 all = static_cast<u128>(1) << 64;
  const u128 first = (y * all + n - 1) / n;
  const u128 last = ((y + 1) * all - 1) / n;
  u128 rejected = 0;
  for (u128 word = first; word <= last; ++word) {
    if (word - first == 3 && last - first > 6)
      word = last - 2;
    random.play({static_cast<std::uint64_t>(word), UINT64_MAX}); // the largest word is accepted
    const std::uint64_t result = random.below(n);
    if (random.used() == 2)
      ++rejected;
    else
      CHECK(result == y);
  }
  return last - first + 1 - rejected;
}

std::vector<std::uint64_t> words_of_child() {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  std::array<std::uint64_t, 4> words{};
  if (child == 0) {
    OsRandom random;
    for (std::uint64_t &word : words)
      word = random.word();
    const ssize_t written = write(ends[1], words.data(), sizeof words);
    _exit(written == static_cast<ssize_t>(sizeof words) ? 0 : 1);
  }
  close(ends[1]);
  REQUIRE(read(ends[0], words.data(), sizeof words) == static_cast<ssize_t>(sizeof words));
  close(ends[0]);
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  return {words.begin(), words.end()};
}

bool all_distinct(std::vector<std::uint64_t> words) {
  std::sort(words.begin(), words.end());
  return std::adjacent_find(words.begin(), words.end()) == words.end();
}

} // namespace

TEST_CASE("words come out once, in the order in which the source wrote them") {
  ScriptedRandom random({7, 0, UINT64_MAX});
  CHECK(random.word() == 7);
  CHECK(random.word() == 0);
  CHECK(random.word() == UINT64_MAX);
  CHECK_THROWS_AS(random.word(), std::out_of_range);
}

TEST_CASE("a word is erased from the buffer when it is handed out") {
  TransparentRandom random;
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(random.word() == pattern);
    CHECK(random.buffer[i] == 0);
    CHECK(random.buffer[i + 1] == pattern);
  }
}

TEST_CASE("wiped memory holds zeros, to the last byte asked for and no further") {
  std::array<unsigned char, 24> memory;
  memory.fill(0xA5);
  wipe(memory.data() + 3, 17);
  for (std::size_t i = 0; i < memory.size(); ++i)
    CHECK(memory[i] == (i < 3 || i >= 20 ? 0xA5 : 0));
  wipe(memory.data(), 0);
  CHECK(memory[0] == 0xA5);
}

TEST_CASE("nothing of the buffer or of the spare bits outlives the source") {
  alignas(TransparentRandom) static std::array<unsigned char, sizeof(TransparentRandom)> memory;
  auto *random = new (memory.data()) TransparentRandom;
  random->coin();
  random->~TransparentRandom();
  const volatile unsigned char *bytes = memory.data();
  // A word left over is a run of 7 equal bytes at least: 0xA5 in the buffer, 0xD2 in the spare
  // bits, which were shifted by one. Pointers, which may hold such bytes too, have no such runs.
  std::size_t longest = 0, run = 0;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const bool continues = i > 0 && bytes[i] == bytes[i - 1];
    run = bytes[i] != 0xA5 && bytes[i] != 0xD2 ? 0 : continues ? run + 1 : 1;
    longest = std::max(longest, run);
  }
  CHECK(longest < 7);
}

TEST_CASE("coins are the bits of a word, the lowest first, and 64 coins cost one word") {
  ScriptedRandom random({0x8000000000000005, 0});
  std::vector<std::size_t> heads;
  for (std::size_t i = 0; i < 64; ++i)
    if (random.coin())
      heads.push_back(i);
  CHECK(heads == std::vector<std::size_t>{0, 2, 63});
  CHECK(random.used() == 1);
  CHECK_FALSE(random.coin());
  CHECK(random.used() == 2);
}

TEST_CASE("below(n) gives every result exactly floor(2^64 / n) words when n is at most 2^63") {
  std::mt19937_64 engine(1);
  std::vector<std::uint64_t> sizes{1, 2, 3, 5, 6, 7, 10, 1000, 65536, 4294967295, half - 1, half};
  for (int i = 0; i < 300; ++i)
    sizes.push_back(1 + (engine() >> (1 + engine() % 63)));
  ScriptedRandom random;
  for (const std::uint64_t n : sizes) {
    CAPTURE(n);
    const std::uint64_t words =
        n == 1 ? 0 : static_cast<std::uint64_t>((static_cast<u128>(1) << 64) / n);
    for (const std::uint64_t y :
         {std::uint64_t{0}, std::uint64_t{1}, n / 2, n - 2, n - 1, engine()})
      CHECK(static_cast<std::uint64_t>(accepted_words(random, n, y % n)) == words);
  }
}

TEST_CASE("below(n) is the first word under n when n exceeds 2^63") {
  for (const std::uint64_t n : {half + 1, half + 12345, UINT64_MAX - 1, UINT64_MAX}) {
    CAPTURE(n);
    ScriptedRandom random({UINT64_MAX, n, n - 1, 0, n / 2});
    CHECK(random.below(n) == n - 1);
    CHECK(random.used() == 3);
    CHECK(random.below(n) == 0);
    CHECK(random.below(n) == n / 2);
  }
}

TEST_CASE("a source that returns nothing is an error, never a constant") {
  FailingRandom random;
  CHECK_THROWS_AS(random.word(), RandomnessError);
  CHECK_THROWS_AS(random.below(3), RandomnessError);
  CHECK_THROWS_AS(random.coin(), RandomnessError);
}

TEST_CASE("the operating system's bytes fill what was asked and nothing beyond") {
  // Linux returns at most 2^25 - 1 bytes at once.
  for (const std::size_t n : {0, 1, 255, 257, 1000000, 40000000}) {
    std::vector<unsigned char> bytes(n + 8, 0);
    os_random_bytes(bytes.data(), n);
    CHECK(std::all_of(bytes.end() - 8, bytes.end(), [](unsigned char byte) { return byte == 0; }));
    const auto zeros = std::count(bytes.begin(), bytes.end() - 8, 0);
    // Zeros among n bytes: mean n / 256, 7 standard deviations.
    const double mean = static_cast<double>(n) / 256;
    CHECK(std::abs(static_cast<double>(zeros) - mean) <= 7 * std::sqrt(mean) + 1);
  }
}

TEST_CASE("two sources of the operating system share no word, also in forked processes") {
  OsRandom first, second;
  std::vector<std::uint64_t> words;
  for (int i = 0; i < 100; ++i) {
    words.push_back(first.word());
    words.push_back(second.word());
  }
  for (int child = 0; child < 100; ++child)
    for (const std::uint64_t word : words_of_child())
      words.push_back(word);
  CHECK(all_distinct(words));
}

TEST_CASE("every bit of the operating system's words is fair, over all batch sizes") {
  constexpr int count = 100000;
  OsRandom random;
  std::vector<std::uint64_t> words;
  std::array<int, 64> ones{};
  for (int i = 0; i < count; ++i) {
    words.push_back(random.word());
    for (std::size_t bit = 0; bit < 64; ++bit)
      ones[bit] += (words.back() >> bit) & 1;
  }
  // Binomial(count, 1/2): 6 standard deviations, 64 bits, so a false alarm once in 8e6 runs.
  for (const int n : ones)
    CHECK(std::abs(n - count / 2) <= 6 * std::sqrt(count) / 2);
  CHECK(all_distinct(words)); // a repeated batch would show; by chance once in 4e9 runs
}

TEST_CASE("every order of a few numbers is drawn with the same probability") {
  std::int64_t orders = 1;
  for (std::int32_t n = 1; n <= 6; ++n) {
    orders *= n;
    const auto law = choice_tree::enumerate([n](choice_tree::Walk &walk) {
      choice_tree::Coins coins{walk};
      std::int64_t digits = 0;
      std::vector<bool> seen(static_cast<std::size_t>(n), false);
      for (const std::int32_t number : random_order(n, coins)) {
        seen[static_cast<std::size_t>(number)] = true;
        digits = 10 * digits + number;
      }
      REQUIRE(std::all_of(seen.begin(), seen.end(), [](bool found) { return found; }));
      return std::optional<std::int64_t>(digits);
    });
    CHECK(static_cast<std::int64_t>(law.mass.size()) == orders);
    for (const auto &[order, mass] : law.mass)
      CHECK(std::abs(mass * static_cast<choice_tree::Real>(orders) - 1) < 1e-15L);
  }
  ScriptedRandom unused;
  CHECK(random_order(0, unused).empty());
  CHECK(random_order(1, unused) == std::vector<std::int32_t>{0});
}
