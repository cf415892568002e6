#include "block_construction.h"
#include <algorithm>
#include <array>
#include <stdexcept>

namespace confide {

namespace {

std::vector<std::uint32_t> additive_radices(const FiniteField &field) {
  return std::vector<std::uint32_t>(field.degree(), field.prime());
}

// A polynomial over GF(q) modulo a monic one of degree t + 1; coefficients from the constant up.
class PolynomialRing {
public:
  PolynomialRing(const FiniteField &field, Labels modulus)
      : field_(field), degree_(modulus.size()), negated_(std::move(modulus)) {
    for (std::uint32_t &c : negated_)
      c = field_.negate(c);
  }

  Labels one() const {
    Labels result(degree_, 0);
    result[0] = 1;
    return result;
  }

  void times_x(Labels &a) const {
    const std::uint32_t top = a.back();
    for (std::size_t i = degree_ - 1; i > 0; --i)
      a[i] = field_.add(a[i - 1], field_.multiply(top, negated_[i]));
    a[0] = field_.multiply(top, negated_[0]);
  }

  Labels multiply(const Labels &a, const Labels &b) const {
    Labels result(degree_, 0);
    for (std::size_t i = degree_; i-- > 0;) { // Horner
      times_x(result);
      for (std::size_t j = 0; j < degree_; ++j)
        result[j] = field_.add(result[j], field_.multiply(a[i], b[j]));
    }
    return result;
  }

  Labels x_to(std::uint64_t exponent) const {
    Labels result = one();
    for (int bit = 63; bit >= 0; --bit) {
      result = multiply(result, result);
      if ((exponent >> bit) & 1)
        times_x(result);
    }
    return result;
  }

private:
  const FiniteField &field_;
  std::size_t degree_;
  Labels negated_;
};

bool is_constant(const Labels &a) {
  return std::all_of(a.begin() + 1, a.end(), [](std::uint32_t c) { return c == 0; });
}

// x has order v modulo constants, which makes its powers the points of the projective space.
bool generates_points(const PolynomialRing &ring, std::uint64_t v,
                      const std::vector<std::uint64_t> &factors) {
  if (!is_constant(ring.x_to(v)))
    return false;
  return std::none_of(factors.begin(), factors.end(),
                      [&](std::uint64_t l) { return is_constant(ring.x_to(v / l)); });
}

// A fixed sequence of 64-bit words (splitmix64), so that every platform finds the same polynomial.
class FixedSequence {
public:
  std::uint32_t below(std::uint32_t n) {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::uint32_t>((z ^ (z >> 31)) % n);
  }

private:
  std::uint64_t state_ = 0;
};

std::uint64_t count_points(std::uint64_t q, std::uint32_t dimension) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < dimension; ++i)
    sum = sum * q + 1;
  return sum;
}

} // namespace

DifferenceFamily identity_family(std::uint32_t v) { return {{v}, 1, {0}}; }

DifferenceFamily singer_family(std::uint32_t q, std::uint32_t t) {
  const FiniteField field(q);
  const std::uint64_t v = count_points(q, t + 1);
  const std::vector<std::uint64_t> factors = prime_factors(v);
  FixedSequence sequence;
  while (true) {
    Labels modulus(t + 1);
    for (std::uint32_t &c : modulus)
      c = sequence.below(q);
    if (modulus[0] == 0)
      continue;
    const PolynomialRing ring(field, modulus);
    if (!generates_points(ring, v, factors))
      continue;
    DifferenceFamily family{{static_cast<std::uint32_t>(v)}, 1, {}};
    family.base.reserve(count_points(q, t));
    Labels power = ring.one();
    for (std::uint64_t i = 0; i < v; ++i) {
      if (power[t] == 0)
        family.base.push_back(static_cast<std::uint32_t>(i));
      ring.times_x(power);
    }
    return family;
  }
}

DifferenceFamily power_residues(std::uint32_t q, std::uint32_t e, bool with_zero) {
  const FiniteField field(q);
  DifferenceFamily family{additive_radices(field), 1, {}};
  if (with_zero)
    family.base.push_back(0);
  for (std::uint32_t i = 0; i < q - 1; i += e)
    family.base.push_back(field.power(i));
  return family;
}

DifferenceFamily bent_family(std::uint32_t m) {
  DifferenceFamily family{std::vector<std::uint32_t>(2 * std::size_t{m}, 2), 1, {}};
  const std::uint32_t half = 1u << m;
  for (std::uint32_t a = 0; a < half; ++a) {
    for (std::uint32_t b = 0; b < half; ++b) {
      std::uint32_t parity = a & b;
      for (std::uint32_t shift = 16; shift > 0; shift /= 2)
        parity ^= parity >> shift;
      if (parity & 1)
        family.base.push_back(a + half * b);
    }
  }
  return family;
}

DifferenceFamily twin_family(std::uint32_t q) {
  const FiniteField first(q), second(q + 2);
  DifferenceFamily family{additive_radices(first), 1, {}};
  for (const std::uint32_t radix : additive_radices(second))
    family.radices.push_back(radix);
  for (std::uint32_t y = 0; y < q + 2; ++y)
    for (std::uint32_t x = 0; x < q; ++x)
      if (y == 0 || first.character(x) * second.character(y) == 1)
        family.base.push_back(x + q * y);
  return family;
}

namespace {

// Vectors of F_q^n as digits in base q, and one normal vector (first nonzero coordinate 1) for each
// hyperplane through 0.
struct Hyperplanes {
  const FiniteField &field;
  std::uint32_t n, vectors;

  std::uint32_t product(std::uint32_t u, std::uint32_t x) const {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < n; ++i, u /= field.size(), x /= field.size())
      sum = field.add(sum, field.multiply(u % field.size(), x % field.size()));
    return sum;
  }
  bool is_normal(std::uint32_t u) const {
    if (u == 0)
      return false;
    while (u % field.size() == 0)
      u /= field.size();
    return u % field.size() == 1;
  }
};

Hyperplanes hyperplanes(const FiniteField &field, std::uint32_t n) {
  std::uint32_t vectors = 1;
  for (std::uint32_t i = 0; i < n; ++i)
    vectors *= field.size();
  return {field, n, vectors};
}

DifferenceFamily hyperplane_family(std::uint32_t q, std::uint32_t d, bool spence) {
  const FiniteField field(q);
  const Hyperplanes space = hyperplanes(field, d + 1);
  DifferenceFamily family{{}, 1, {}};
  for (std::uint32_t i = 0; i < (d + 1) * field.degree(); ++i)
    family.radices.push_back(field.prime());
  std::uint32_t coset = 0;
  for (std::uint32_t u = 1; u < space.vectors; ++u) {
    if (!space.is_normal(u))
      continue;
    const bool complement = spence && coset == 0;
    for (std::uint32_t x = 0; x < space.vectors; ++x)
      if ((space.product(u, x) == 0) != complement)
        family.base.push_back(x + space.vectors * coset);
    ++coset;
  }
  family.radices.push_back(spence ? coset : coset + 1); // McFarland leaves one coset empty
  return family;
}

} // namespace

DifferenceFamily mcfarland_family(std::uint32_t q, std::uint32_t d) {
  return hyperplane_family(q, d, false);
}

DifferenceFamily spence_family(std::uint32_t d) { return hyperplane_family(3, d, true); }

DifferenceFamily cyclotomic_family(std::uint32_t q, std::uint32_t h, std::uint32_t k) {
  const FiniteField field(q);
  const std::uint32_t index = (q - 1) / h; // cosets of the h-th roots of unity
  const bool with_zero = h > 1 && k % h == 1;
  const std::uint32_t cosets = (k - (with_zero ? 1 : 0)) / h;
  // D and -D have the same differences, so one of the two is enough where -1 is no root of unity.
  const bool halved = q % 2 == 1 && h % 2 == 1;
  DifferenceFamily family{additive_radices(field), halved ? index / 2 : index, {}};
  family.base.reserve(family.blocks * k);
  for (std::uint32_t a = 0; a < family.blocks; ++a) {
    if (with_zero)
      family.base.push_back(0);
    for (std::uint32_t j = 0; j < cosets; ++j)
      for (std::uint32_t i = 0; i < h; ++i)
        family.base.push_back(field.power((a + j) % index + i * index));
  }
  return family;
}

namespace {

// Paley's matrix with -1 for the zeros of the diagonal: entry chi(i - j).
int difference_character(const FiniteField &field, std::size_t i, std::size_t j) {
  return field.character(
      field.add(static_cast<std::uint32_t>(i), field.negate(static_cast<std::uint32_t>(j))));
}

// [[0, 1], [sign, Q]] as an entry, for rows and columns 0, ..., q.
int bordered_entry(const FiniteField &field, int sign, std::size_t i, std::size_t j) {
  if (i == 0)
    return j == 0 ? 0 : 1;
  return j == 0 ? sign : difference_character(field, i - 1, j - 1);
}

void normalise(SignMatrix &matrix) {
  const std::size_t n = matrix.order;
  for (std::size_t j = 0; j < n; ++j)
    if (matrix.signs[j] < 0)
      for (std::size_t i = 0; i < n; ++i)
        matrix.signs[i * n + j] = static_cast<std::int8_t>(-matrix.signs[i * n + j]);
  for (std::size_t i = 0; i < n; ++i)
    if (matrix.signs[i * n] < 0)
      for (std::size_t j = 0; j < n; ++j)
        matrix.signs[i * n + j] = static_cast<std::int8_t>(-matrix.signs[i * n + j]);
}

// I + [[0, 1], [-1, Q]], q = 3 mod 4.
SignMatrix paley_one(std::uint32_t q) {
  const FiniteField field(q);
  SignMatrix matrix{q + std::size_t{1}, {}};
  for (std::size_t i = 0; i <= q; ++i)
    for (std::size_t j = 0; j <= q; ++j)
      matrix.signs.push_back(
          static_cast<std::int8_t>(bordered_entry(field, -1, i, j) + (i == j ? 1 : 0)));
  return matrix;
}

// C (x) [[1, 1], [1, -1]] + I (x) [[1, -1], [-1, -1]] with C = [[0, 1], [1, Q]], q = 1 mod 4.
SignMatrix paley_two(std::uint32_t q) {
  const FiniteField field(q);
  const std::array<int, 4> conference{1, 1, 1, -1}, diagonal{1, -1, -1, -1};
  SignMatrix matrix{2 * (q + std::size_t{1}), {}};
  for (std::size_t i = 0; i < matrix.order; ++i) {
    for (std::size_t j = 0; j < matrix.order; ++j) {
      const std::size_t corner = 2 * (i % 2) + j % 2;
      const int entry = bordered_entry(field, 1, i / 2, j / 2) * conference[corner] +
                        (i / 2 == j / 2 ? diagonal[corner] : 0);
      matrix.signs.push_back(static_cast<std::int8_t>(entry));
    }
  }
  return matrix;
}

} // namespace

SignMatrix hadamard_core(std::uint32_t order) {
  if (order == 1)
    return {1, {1}};
  SignMatrix matrix;
  if (order % 4 == 0 && prime_power(order - 1).prime != 0)
    matrix = paley_one(order - 1);
  else if (order % 4 == 0 && (order / 2 - 1) % 4 == 1 && prime_power(order / 2 - 1).prime != 0)
    matrix = paley_two(order / 2 - 1);
  else
    throw std::domain_error("no Hadamard matrix of this order is constructed");
  normalise(matrix);
  return matrix;
}

namespace {

// Three copies of a quasigroup of order n, and perhaps a point at infinity.
struct ThreeLevels {
  std::uint32_t n;
  Labels triples;

  std::uint32_t point(std::uint32_t x, std::uint32_t level) const { return x + n * (level % 3); }
  void add(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    triples.insert(triples.end(), {a, b, c});
  }
};

// Bose (1939) for n odd: x o y = (x + y) / 2 mod n. Once for each unordered pair, or, for lambda =
// 2, for each ordered one.
ThreeLevels mixed_triples(std::uint32_t n, bool ordered) {
  ThreeLevels system{n, {}};
  for (std::uint32_t level = 0; level < 3; ++level)
    for (std::uint32_t x = 0; x < n; ++x)
      for (std::uint32_t y = ordered ? 0 : x + 1; y < n; ++y)
        if (x != y) {
          const auto mean = static_cast<std::uint32_t>(std::uint64_t{x + y} * ((n + 1) / 2) % n);
          system.add(system.point(x, level), system.point(y, level), system.point(mean, level + 1));
        }
  return system;
}

Labels bose_triples(std::uint32_t v) {
  ThreeLevels system = mixed_triples(v / 3, false);
  for (std::uint32_t x = 0; x < system.n; ++x)
    system.add(system.point(x, 0), system.point(x, 1), system.point(x, 2));
  return system.triples;
}

// Skolem (1958), v = 6 t + 1: the half-idempotent quasigroup x o y = (x + y) / 2, the odd sums
// shifted by t, on 2 t symbols.
Labels skolem_triples(std::uint32_t v) {
  const std::uint32_t t = v / 6, n = 2 * t, infinity = v - 1;
  ThreeLevels system{n, {}};
  const auto halve = [&](std::uint32_t sum) { return sum % 2 == 0 ? sum / 2 : sum / 2 + t; };
  for (std::uint32_t x = 0; x < t; ++x)
    system.add(system.point(x, 0), system.point(x, 1), system.point(x, 2));
  for (std::uint32_t level = 0; level < 3; ++level) {
    for (std::uint32_t x = 0; x < t; ++x)
      system.add(infinity, system.point(x + t, level), system.point(x, level + 1));
    for (std::uint32_t x = 0; x < n; ++x)
      for (std::uint32_t y = x + 1; y < n; ++y)
        system.add(system.point(x, level), system.point(y, level),
                   system.point(halve((x + y) % n), level + 1));
  }
  return system.triples;
}

Labels twofold_triples(std::uint32_t v) {
  ThreeLevels system = mixed_triples(v / 3, true);
  for (std::uint32_t x = 0; x < system.n; ++x) {
    const std::array<std::uint32_t, 3> p{system.point(x, 0), system.point(x, 1),
                                         system.point(x, 2)};
    system.add(p[0], p[1], p[2]);
    if (v % 3 == 0) {
      system.add(p[0], p[1], p[2]);
      continue;
    }
    for (std::size_t skipped = 0; skipped < 3; ++skipped)
      system.add(v - 1, p[(skipped + 1) % 3], p[(skipped + 2) % 3]);
  }
  return system.triples;
}

} // namespace

Labels triple_system(std::uint32_t v, std::uint32_t lambda) {
  if (lambda == 2 && (v % 3 == 0 || v % 3 == 1) && v / 3 % 2 == 1)
    return twofold_triples(v);
  if (lambda == 1 && v % 6 == 3)
    return bose_triples(v);
  if (lambda == 1 && v % 6 == 1)
    return skolem_triples(v);
  throw std::domain_error("no triple system of this order is constructed");
}

} // namespace confide
