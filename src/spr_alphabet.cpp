#include "spr_alphabet.h"
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace confide::spr {
namespace {

struct Keyed {
  double ratio;
  std::uint32_t symbol;
};

// Neumaier's compensated sum.
struct CompensatedSum {
  double high = 0, low = 0;
  void add(double mass) {
    const double next = high + mass;
    low += high >= mass ? (high - next) + mass : (mass - next) + high;
    high = next;
  }
  double value() const { return high + low; }
};

double total_mass(const std::vector<double> &masses) {
  CompensatedSum sum;
  for (const double mass : masses) {
    if (!(mass >= 0) || std::isinf(mass))
      throw std::invalid_argument("probabilities must be finite and non-negative");
    sum.add(mass);
  }
  return sum.value();
}

} // namespace

void PrefixSum::add(double mass) {
  const double last = high.back();
  const double sum = last + mass;
  const double part = sum - last;
  const double error = (last - (sum - part)) + (mass - part); // exact: Knuth's two-sum
  const double rest = low.back() + error;
  high.push_back(sum + rest);
  low.push_back(rest - (high.back() - sum));
}

double Alphabet::ratio(std::size_t symbol) const {
  return p.between(symbol, symbol + 1) / q.between(symbol, symbol + 1);
}

SortedAlphabet sort_alphabet(const std::vector<double> &p0, const std::vector<double> &p1) {
  const std::size_t k = p0.size();
  if (k == 0 || p1.size() != k || k >= SortedAlphabet::no_group)
    throw std::invalid_argument("two distributions on the same symbols are needed");
  const double total0 = total_mass(p0), total1 = total_mass(p1);
  if (!(total0 > 0) || !(total1 > 0) || std::isinf(total0) || std::isinf(total1))
    throw std::invalid_argument("probabilities must have a positive, finite sum");

  std::vector<Keyed> keyed, massless;
  keyed.reserve(k);
  for (std::size_t i = 0; i < k; ++i) {
    const auto symbol = static_cast<std::uint32_t>(i);
    if (p0[i] == 0 && p1[i] == 0)
      massless.push_back({0, symbol});
    else
      keyed.push_back({p0[i] / p1[i], symbol});
  }
  std::sort(keyed.begin(), keyed.end(), [](const Keyed &a, const Keyed &b) {
    return a.ratio < b.ratio || (a.ratio == b.ratio && a.symbol < b.symbol);
  });

  SortedAlphabet sorted;
  sorted.group.assign(k, SortedAlphabet::no_group);
  sorted.order.reserve(k);
  sorted.alphabet.p.reserve(keyed.size());
  sorted.alphabet.q.reserve(keyed.size());
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < keyed.size(); ++group) {
    // Compared with the first of the group, so that a chain of near-ties cannot drift.
    const double limit = keyed[i].ratio * (1 + 0x1p-50);
    CompensatedSum p, q;
    for (; i < keyed.size() && keyed[i].ratio <= limit; ++i) {
      const std::uint32_t symbol = keyed[i].symbol;
      p.add(p0[symbol]);
      q.add(p1[symbol]);
      sorted.group[symbol] = group;
      sorted.order.push_back(symbol);
    }
    sorted.alphabet.p.add(p.value() / total0);
    sorted.alphabet.q.add(q.value() / total1);
  }
  for (const Keyed &entry : massless)
    sorted.order.push_back(entry.symbol);
  return sorted;
}

BlockMasses block_masses(const Alphabet &alphabet, const std::vector<std::size_t> &starts) {
  BlockMasses masses;
  for (std::size_t j = 0; j < starts.size(); ++j) {
    const std::size_t end = j + 1 < starts.size() ? starts[j + 1] : alphabet.size();
    masses.p.push_back(alphabet.p.between(starts[j], end));
    masses.q.push_back(alphabet.q.between(starts[j], end));
  }
  return masses;
}

TopSet most_telling_top_set(const Alphabet &alphabet, double c) {
  TopSet best;
  for (std::size_t start = 1; start < alphabet.size(); ++start) {
    const double p = alphabet.p.between(start, alphabet.size());
    const double q = alphabet.q.between(start, alphabet.size());
    const double log_ratio = std::log1p(c * (p - q) / (1 + c * q));
    if (log_ratio > best.log_ratio)
      best = {start, log_ratio};
  }
  return best;
}

double log_ratio_span(const Alphabet &alphabet, double c) {
  double lowest = 0; // bottom sets are the mirror image of top sets
  for (std::size_t end = 1; end < alphabet.size(); ++end) {
    const double p = alphabet.p.between(0, end), q = alphabet.q.between(0, end);
    lowest = std::min(lowest, -std::log1p(c * (q - p) / (1 + c * p)));
  }
  return most_telling_top_set(alphabet, c).log_ratio - lowest;
}

} // namespace confide::spr
