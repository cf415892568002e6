#pragma once
#include "spr_search.h"
#include <cstddef>
#include <vector>

namespace confide::spr {

struct Optimum {
  std::vector<std::size_t> starts{0};
  double value = 0; // in the units of the divergence
};

// The optimal blocks of one alphabet for any divergence but Chernoff's: in closed form for the
// hockey-stick family, Renyi's of order Inf and the l_r distance, O(k), and by search for the rest,
// O(k^2), from the partition `starts`. max_blocks >= 1.
Optimum optimum_on(const Alphabet &alphabet, const Divergence &divergence, double c,
                   std::size_t max_blocks, const std::vector<std::size_t> &starts, Pacer &pacer);

bool has_closed_form(const Divergence &divergence);

} // namespace confide::spr
