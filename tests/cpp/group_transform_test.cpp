#include "group_transform.h"
#include <doctest/doctest.h>
#include <random>
#include <vector>

using namespace confide;

namespace {

using Radices = std::vector<std::uint32_t>;

std::size_t add(const Radices &radices, std::size_t a, std::size_t b, bool subtract) {
  std::size_t sum = 0, place = 1;
  for (const std::uint32_t n : radices) {
    sum += (a % n + (subtract ? n - b % n : b % n)) % n * place;
    a /= n;
    b /= n;
    place *= n;
  }
  return sum;
}

std::size_t size_of(const Radices &radices) {
  std::size_t size = 1;
  for (const std::uint32_t n : radices)
    size *= n;
  return size;
}

void check_convolution(const Radices &radices, bool correlate) {
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> number(-1, 1);
  const std::size_t size = size_of(radices);
  std::vector<double> a(size), b(size), expected(size, 0);
  for (std::size_t i = 0; i < size; ++i) {
    a[i] = number(engine);
    b[i] = number(engine);
  }
  for (std::size_t x = 0; x < size; ++x)
    for (std::size_t y = 0; y < size; ++y)
      expected[x] += a[y] * b[correlate ? add(radices, y, x, true) : add(radices, x, y, true)];
  const GroupTransform transform(radices);
  auto product = transform.forward(a.data());
  const auto other = transform.forward(b.data());
  for (std::size_t i = 0; i < product.size(); ++i)
    product[i] *= correlate ? std::conj(other[i]) : other[i];
  const Eigen::VectorXd found = transform.backward(product, correlate);
  for (std::size_t i = 0; i < size; ++i)
    // Rounding grows like the logarithm of the length; sums of up to 400 terms below 1.
    CHECK(found[static_cast<Eigen::Index>(i)] ==
          doctest::Approx(expected[i]).scale(10).epsilon(1e-13));
}

} // namespace

TEST_CASE("convolution and correlation are the naive sums on lines, cubes and mixed groups") {
  const std::vector<Radices> groups{{1},       {2},    {7},     {24},     {25},
                                    {97},      {101},  {128},   {2, 2},   {2, 2, 2, 2},
                                    {3, 3, 4}, {5, 7}, {3, 31}, {29, 31}, {2, 3, 5}};
  for (const Radices &radices : groups) {
    CAPTURE(radices.front());
    check_convolution(radices, false);
    check_convolution(radices, true);
  }
}

TEST_CASE("the Walsh-Hadamard transform is its matrix, and its own inverse but for the length") {
  std::vector<double> values{3, 1, 4, 1, 5, 9, 2, 6};
  const std::vector<double> original = values;
  walsh_hadamard(values.data(), values.size());
  for (unsigned i = 0; i < 8; ++i) {
    double sum = 0;
    for (unsigned j = 0; j < 8; ++j)
      sum += original[j] * (__builtin_popcount(i & j) % 2 == 0 ? 1 : -1);
    CHECK(values[i] == sum);
  }
  walsh_hadamard(values.data(), values.size());
  for (unsigned i = 0; i < 8; ++i)
    CHECK(values[i] == 8 * original[i]);
}
