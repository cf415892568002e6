#pragma once
#include "block_design.h"
#include <utility>
#include <vector>

namespace confide {

inline Incidence group(DifferenceFamily family) { return make_group_design(std::move(family)); }

// Sets I_x as 0/1 rows, from the blocks.
inline std::vector<std::vector<int>> incidence(const Incidence &design) {
  std::vector<std::vector<int>> rows(point_count(design),
                                     std::vector<int>(output_count(design), 0));
  for (std::uint32_t y = 0; y < output_count(design); ++y)
    for (const std::uint32_t x : points_of(design, y))
      rows[x][y] += 1;
  return rows;
}

} // namespace confide
