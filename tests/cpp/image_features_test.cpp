#include "image_features.h"
#include <cmath>
#include <doctest/doctest.h>
#include <numeric>

using namespace confide;

TEST_CASE("filters are whole numbers that sum to 0, the same for the same seed") {
  const FilterBank bank = filter_bank(8, 8, 4, 3, 2, 7);
  for (std::size_t f = 0; f < 4; ++f) {
    double sum = 0;
    for (std::size_t k = 0; k < 9; ++k) {
      const double weight = bank.weights[k * 4 + f];
      CHECK(weight == std::round(weight));
      sum += weight;
    }
    CHECK(sum == 0);
  }
  CHECK(bank.weights == filter_bank(8, 8, 4, 3, 2, 7).weights);
  CHECK(bank.weights != filter_bank(8, 8, 4, 3, 2, 8).weights);
}

TEST_CASE("features are the formula, written the other way round") {
  const FilterBank bank = filter_bank(7, 6, 3, 3, 2, 1);
  std::vector<double> pixels(42);
  for (std::size_t i = 0; i < 42; ++i)
    pixels[i] = static_cast<double>(i * i % 17);
  std::vector<double> expected; // 2 x 2 squares of 2 x 2 responses, of 5 x 4
  for (std::size_t y = 0; y < 2; ++y)
    for (std::size_t x = 0; x < 2; ++x)
      for (std::size_t f = 0; f < 3; ++f) {
        double cell = 0;
        for (std::size_t place = 0; place < 4; ++place) {
          const std::size_t top = 2 * y + place / 2, left = 2 * x + place % 2;
          double response = 0;
          for (std::size_t k = 0; k < 9; ++k)
            response += bank.weights[k * 3 + f] * pixels[(top + k / 3) * 6 + left + k % 3];
          cell += std::max(response, 0.0);
        }
        expected.push_back(cell);
      }
  const double mean = std::accumulate(expected.begin(), expected.end(), 0.0) / 12;
  double squares = 0;
  for (double &value : expected) {
    value -= mean;
    squares += value * value;
  }
  REQUIRE(feature_count(bank) == 12);
  std::vector<double> features(12);
  image_features(pixels.data(), bank, features.data());
  for (std::size_t i = 0; i < 12; ++i)
    CHECK(features[i] == doctest::Approx(expected[i] / std::sqrt(squares)).epsilon(1e-12));
}

TEST_CASE("even images give zeros, and pixels that are not finite NaN") {
  const FilterBank bank = filter_bank(5, 5, 2, 2, 2, 1);
  std::vector<double> features(feature_count(bank));
  for (const double grey : {0.0, 1.0, 255.0, -3.0}) {
    const std::vector<double> pixels(25, grey);
    image_features(pixels.data(), bank, features.data());
    for (const double feature : features)
      CHECK(feature == 0);
  }
  std::vector<double> pixels(25, 1.0);
  pixels[24] = std::nan("");
  image_features(pixels.data(), bank, features.data());
  for (const double feature : features)
    CHECK(std::isnan(feature));
  // overflow: finite pixels, features without a norm above 1
  for (std::size_t i = 0; i < 25; ++i)
    pixels[i] = i % 3 == 0 ? 1e308 : -1e308;
  image_features(pixels.data(), bank, features.data());
  double squares = 0;
  for (const double feature : features)
    squares += feature * feature;
  CHECK((std::isnan(squares) || squares <= 1 + 1e-12));
}
