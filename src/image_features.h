#pragma once
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace confide {

// A fixed map from grey images to features: random filters, the positive part of each response,
// means over squares; then each image's features are centred and scaled to norm 1. It depends on
// the image and on public arguments only, so it costs no privacy. Images are read row by row.
struct FilterBank {
  std::size_t height, width; // of an image
  std::size_t size;          // of a filter: size x size
  std::size_t pool;          // means over pool x pool responses
  std::size_t filters;
  std::vector<double> weights; // filters x size^2, the filter runs fastest; whole numbers
};

// Weights are whole numbers that sum to 0 in each filter: pixels that are whole numbers, such as
// grey levels, give exact responses, and an evenly grey image exactly 0. The generator is the
// standard's mt19937_64, the same everywhere. Requires pool <= height - size + 1, also for width.
FilterBank filter_bank(std::size_t height, std::size_t width, std::size_t filters, std::size_t size,
                       std::size_t pool, std::uint64_t seed);

// Squares that are cut by the border are left out.
std::size_t feature_count(const FilterBank &bank);

// One image of height * width pixels to feature_count() features, the filter running fastest.
// O(responses * size^2 * filters), in plain loops: the same features wherever the image lies in
// memory. A pixel that is not finite makes all features NaN, an even image all 0.
void image_features(const double *pixels, const FilterBank &bank, double *features);

} // namespace confide
