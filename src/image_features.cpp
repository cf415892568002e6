#include "image_features.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace confide {
namespace {

// Responses of all filters at one place.
void respond(const double *pixels, const FilterBank &bank, std::size_t row, std::size_t column,
             std::vector<double> &responses) {
  std::fill(responses.begin(), responses.end(), 0.0);
  const double *weight = bank.weights.data();
  for (std::size_t i = 0; i < bank.size; ++i)
    for (std::size_t j = 0; j < bank.size; ++j) {
      const double pixel = pixels[(row + i) * bank.width + column + j];
      for (std::size_t f = 0; f < bank.filters; ++f)
        responses[f] += *weight++ * pixel;
    }
}

// Whatever overflows on the way becomes NaN throughout.
void centre_and_scale(double *features, std::size_t size) {
  double sum = 0;
  for (std::size_t i = 0; i < size; ++i)
    sum += features[i];
  const double mean = sum / static_cast<double>(size);
  double largest = 0;
  for (std::size_t i = 0; i < size; ++i) {
    features[i] -= mean;
    largest = std::max(largest, std::abs(features[i]));
  }
  double squares = 0;
  for (std::size_t i = 0; i < size && largest > 0; ++i) {
    features[i] /= largest; // keeps squares away from overflow and underflow
    squares += features[i] * features[i];
  }
  for (std::size_t i = 0; i < size && largest > 0; ++i)
    features[i] /= std::sqrt(squares);
}

} // namespace

FilterBank filter_bank(std::size_t height, std::size_t width, std::size_t filters, std::size_t size,
                       std::size_t pool, std::uint64_t seed) {
  FilterBank bank{height, width, size, pool, filters, {}};
  const std::size_t area = size * size;
  bank.weights.resize(filters * area);
  std::mt19937_64 words(seed);
  for (std::size_t f = 0; f < filters; ++f) {
    double sum = 0;
    for (std::size_t k = 0; k < area; ++k) {
      const double drawn = static_cast<double>(words() >> 48) - 32767.5; // uniform, 2^16 values
      bank.weights[k * filters + f] = 2 * drawn;
      sum += 2 * drawn;
    }
    for (std::size_t k = 0; k < area; ++k) {
      double &weight = bank.weights[k * filters + f];
      weight = static_cast<double>(area) * weight - sum;
    }
  }
  return bank;
}

std::size_t feature_count(const FilterBank &bank) {
  return (bank.height - bank.size + 1) / bank.pool * ((bank.width - bank.size + 1) / bank.pool) *
         bank.filters;
}

void image_features(const double *pixels, const FilterBank &bank, double *features) {
  const std::size_t rows = (bank.height - bank.size + 1) / bank.pool;
  const std::size_t columns = (bank.width - bank.size + 1) / bank.pool;
  const std::size_t size = rows * columns * bank.filters;
  if (!std::all_of(pixels, pixels + bank.height * bank.width,
                   [](double pixel) { return std::isfinite(pixel); })) {
    std::fill(features, features + size, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  std::fill(features, features + size, 0.0);
  std::vector<double> responses(bank.filters);
  for (std::size_t row = 0; row < rows * bank.pool; ++row)
    for (std::size_t column = 0; column < columns * bank.pool; ++column) {
      respond(pixels, bank, row, column, responses);
      double *cell = features + (row / bank.pool * columns + column / bank.pool) * bank.filters;
      for (std::size_t f = 0; f < bank.filters; ++f)
        cell[f] += std::max(responses[f], 0.0);
    }
  centre_and_scale(features, size);
}

} // namespace confide
