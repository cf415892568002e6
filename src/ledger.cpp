#include "ledger.h"
#include <algorithm>

namespace confide {
namespace {

// Exactly: a rounded-up difference is above 0 only if the difference is.
bool above(ExactSum a, const ExactSum &b) {
  a.subtract(b);
  return a.rounded_up() > 0;
}

constexpr double tolerance = 1e-9;

} // namespace

ExactSum Ledger::total(const std::string &part) const {
  ExactSum sum = everybody_;
  const auto found = parts_.find(part);
  if (found != parts_.end())
    sum.add(found->second);
  return sum;
}

double Ledger::spent() const { return total(largest_).rounded_up(); }

double Ledger::spent_in(const std::string &part) const { return total(part).rounded_up(); }

double Ledger::spent_with(const LedgerEntry &entry) const {
  ExactSum sum = total(entry.part.empty() ? largest_ : entry.part);
  sum.add(entry.epsilon);
  return std::max(sum.rounded_up(), spent());
}

// O(log parts); the sums hold a handful of doubles.
bool Ledger::charge(const LedgerEntry &entry) {
  if (spent_with(entry) > limit_ * (1 + tolerance))
    return false;
  if (entry.part.empty()) {
    everybody_.add(entry.epsilon);
  } else {
    ExactSum &sum = parts_[entry.part];
    sum.add(entry.epsilon);
    if (largest_.empty() || above(sum, parts_[largest_]))
      largest_ = entry.part;
  }
  entries_.push_back(entry);
  return true;
}

void Ledger::refund(const LedgerEntry &entry) {
  ExactSum &sum = entry.part.empty() ? everybody_ : parts_[entry.part];
  sum.add(-entry.epsilon);
  entries_.push_back({entry.what, entry.part, -entry.epsilon});
  find_largest();
}

void Ledger::find_largest() {
  for (const auto &part : parts_)
    if (above(part.second, parts_[largest_]))
      largest_ = part.first;
}

std::vector<std::string> Ledger::parts() const {
  std::vector<std::string> names;
  for (const auto &part : parts_)
    names.push_back(part.first);
  return names;
}

} // namespace confide
