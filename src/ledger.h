#pragma once
#include "rounding.h"
#include <map>
#include <string>
#include <vector>

namespace confide {

// Adaptive composition of ex-post Renyi differential privacy at one order alpha (Raisa, Koskela and
// Honkela 2026): certificates of releases about the same people add up; of releases about disjoint
// parts of the people the largest counts. Sums are exact, claims are rounded up.

// part "": about everybody. A refund has a negative epsilon.
struct LedgerEntry {
  std::string what, part;
  double epsilon;
};

class Ledger {
public:
  // limit >= 0, may be infinite; sums may exceed it by a relative 1e-9.
  explicit Ledger(double limit) : limit_(limit) {}

  // False, and nothing is charged, if that would exceed the limit. Requires epsilon >= 0.
  bool charge(const LedgerEntry &entry);

  // Gives back what a charge was too large by: the worst case was charged, less has happened.
  void refund(const LedgerEntry &entry);

  double spent() const;
  double spent_with(const LedgerEntry &entry) const; // if it were charged
  double spent_in(const std::string &part) const;    // what a person of that part is charged
  std::vector<std::string> parts() const;
  const std::vector<LedgerEntry> &entries() const { return entries_; }

private:
  void find_largest();
  ExactSum total(const std::string &part) const;

  double limit_;
  ExactSum everybody_;
  std::map<std::string, ExactSum> parts_;
  std::string largest_; // the part with the largest sum; "" when there are no parts
  std::vector<LedgerEntry> entries_;
};

} // namespace confide
