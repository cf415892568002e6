#pragma once
#include "finite_field.h"
#include <cstddef>
#include <cstdint>
#include <vector>

// Difference sets, difference families and Hadamard matrices. Everything here is the same on every
// platform and in every version: a report is only a number, and means what the construction says.
namespace confide {

using Labels = std::vector<std::uint32_t>;

// Base blocks in an abelian group, which is a product of cyclic groups (`radices`); a label is its
// digits in that mixed radix, the first fastest. `base` holds blocks one after the other.
struct DifferenceFamily {
  std::vector<std::uint32_t> radices;
  std::size_t blocks;
  Labels base;
};

// The one-point set: k-ary randomized response.
DifferenceFamily identity_family(std::uint32_t v);
// Singer (1938): hyperplanes of PG(t, q), in Z_v with v = (q^(t+1) - 1) / (q - 1). O(v t).
DifferenceFamily singer_family(std::uint32_t q, std::uint32_t t);
// The e-th powers of F_p (and 0): Paley (1933) for e = 2, Lehmer (1953) for e = 4 and 8.
DifferenceFamily power_residues(std::uint32_t q, std::uint32_t e, bool with_zero);
// {(a, b): <a, b> = 1} in Z_2^(2m), Menon (1962).
DifferenceFamily bent_family(std::uint32_t m);
// Stanton and Sprott (1958), q and q + 2 prime powers.
DifferenceFamily twin_family(std::uint32_t q);
// McFarland (1973) and Spence (1977): hyperplanes of F_q^(d+1) in the cosets of a cyclic group.
DifferenceFamily mcfarland_family(std::uint32_t q, std::uint32_t d);
DifferenceFamily spence_family(std::uint32_t d);
// aD over the cosets a of the stabiliser, D a union of cosets of the h-th roots of unity of F_q
// (and 0 where k mod h = 1, h > 1).
DifferenceFamily cyclotomic_family(std::uint32_t q, std::uint32_t h, std::uint32_t k);

// A normalised Hadamard matrix that no smaller one divides: order 1, q + 1 (Paley I) or 2 (q + 1)
// (Paley II). Row-major signs.
struct SignMatrix {
  std::size_t order;
  std::vector<std::int8_t> signs;
};
SignMatrix hadamard_core(std::uint32_t order);

// Blocks of three points: Steiner triple systems (Bose 1939, Skolem 1958; v = 1 or 3 mod 6), or
// with every pair in two blocks (v = 3 n or 3 n + 1, n odd). Rows of three labels.
Labels triple_system(std::uint32_t v, std::uint32_t lambda);

} // namespace confide
