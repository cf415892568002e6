#include "block_design.h"
#include "block_sampler.h"
#include "incidence.h"
#include "seeded_random.h"
#include "support.h"
#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <set>
#include <vector>

using namespace confide;

namespace {

void check_design(const Incidence &design, int r, int k, int lambda) {
  const auto rows = incidence(design);
  for (std::size_t x = 0; x < rows.size(); ++x) {
    for (std::size_t other = 0; other < rows.size(); ++other) {
      int shared = 0;
      for (std::size_t y = 0; y < rows[x].size(); ++y)
        shared += rows[x][y] * rows[other][y];
      REQUIRE(shared == (x == other ? r : lambda));
    }
  }
  for (std::uint32_t y = 0; y < output_count(design); ++y)
    REQUIRE(points_of(design, y).size() == static_cast<std::size_t>(k));
}

BlockDesign whole(Incidence design, std::uint64_t r) {
  const std::uint64_t b = output_count(design);
  return {std::move(design), {}, false, b, r};
}

} // namespace

TEST_CASE("constructions have the parameters of the theorems") {
  check_design(group(identity_family(5)), 1, 1, 0);
  check_design(group(singer_family(2, 2)), 3, 3, 1);
  check_design(group(singer_family(4, 2)), 5, 5, 1);
  check_design(group(singer_family(9, 2)), 10, 10, 1);
  check_design(group(singer_family(3, 3)), 13, 13, 4);
  check_design(group(power_residues(11, 2, false)), 5, 5, 2);
  check_design(group(power_residues(27, 2, false)), 13, 13, 6);
  check_design(group(power_residues(37, 4, false)), 9, 9, 2);
  check_design(group(power_residues(13, 4, true)), 4, 4, 1);
  check_design(group(power_residues(73, 8, false)), 9, 9, 1);
  check_design(group(bent_family(2)), 6, 6, 2);
  check_design(group(bent_family(3)), 28, 28, 12);
  check_design(group(twin_family(3)), 7, 7, 3);
  check_design(group(twin_family(7)), 31, 31, 15);
  check_design(group(mcfarland_family(3, 1)), 12, 12, 3);
  check_design(group(mcfarland_family(4, 1)), 20, 20, 4);
  check_design(group(spence_family(1)), 15, 15, 6);
  check_design(group(cyclotomic_family(13, 4, 5)), 15, 5, 5);
  check_design(group(cyclotomic_family(7, 3, 3)), 3, 3, 1);
  check_design(group(cyclotomic_family(16, 5, 6)), 18, 6, 6);
}

TEST_CASE("Hadamard matrices of both of Paley's kinds and their doubles make designs") {
  for (const std::uint32_t core : {4u, 8u, 12u, 20u, 28u, 36u, 52u})
    check_design(make_hadamard_design(1, core), static_cast<int>(core) / 2 - 1,
                 static_cast<int>(core) / 2 - 1, static_cast<int>(core) / 4 - 1);
  check_design(make_hadamard_design(16, 1), 7, 7, 3);
  check_design(make_hadamard_design(2, 12), 11, 11, 5);
  CHECK_THROWS_AS(hadamard_core(92), std::domain_error);
}

TEST_CASE("triple systems hold every pair as often as they should") {
  for (const auto &[v, lambda] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{{7, 1},
                                                                                      {9, 1},
                                                                                      {13, 1},
                                                                                      {15, 1},
                                                                                      {19, 1},
                                                                                      {21, 1},
                                                                                      {25, 1},
                                                                                      {9, 2},
                                                                                      {10, 2},
                                                                                      {15, 2},
                                                                                      {16, 2}}) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> pairs;
    const Labels triples = triple_system(v, lambda);
    for (std::size_t i = 0; i < triples.size(); i += 3) {
      std::vector<std::uint32_t> block(triples.begin() + static_cast<std::ptrdiff_t>(i),
                                       triples.begin() + static_cast<std::ptrdiff_t>(i) + 3);
      std::sort(block.begin(), block.end());
      ++pairs[{block[0], block[1]}];
      ++pairs[{block[0], block[2]}];
      ++pairs[{block[1], block[2]}];
    }
    CHECK(pairs.size() == v * (v - 1) / 2);
    CHECK(std::all_of(pairs.begin(), pairs.end(),
                      [lambda = lambda](const auto &pair) { return pair.second == lambda; }));
  }
  CHECK_THROWS_AS(triple_system(11, 1), std::domain_error);
}

TEST_CASE("the members of a point are drawn once each, in whole, residual and derived designs") {
  const Incidence design = group(singer_family(3, 3)); // 40 points, r = 13, lambda = 4
  ScriptedRandom random;
  const auto rows = incidence(design);
  for (const int part : {0, 1, 2}) {
    const Labels kept = part == 0 ? Labels{} : points_by_first_output(design, part == 2);
    CHECK(kept.size() == (part == 0 ? 0u : part == 1 ? 27u : 13u));
    const std::uint64_t r = part == 2 ? 12 : 13;
    const BlockDesign used{design, kept, part != 0, part == 0 ? 40u : 39u, r};
    const std::uint32_t symbols = part == 0 ? 40 : static_cast<std::uint32_t>(kept.size());
    for (std::uint32_t x = 0; x < symbols; ++x) {
      std::set<std::uint32_t> members;
      for (std::uint64_t number = 0; number < r; ++number)
        members.insert(draw_member(used, x, number, random));
      CHECK(members.size() == r);
      for (const std::uint32_t y : members)
        CHECK((rows[used.point(x)][y] == 1 && (part == 0 || y != 0)));
    }
  }
}

TEST_CASE("an excluded output is never reported, and every other one is") {
  SeededRandom random(3);
  for (const Incidence &design :
       {group(singer_family(3, 2)), Incidence(make_hadamard_design(2, 4))}) {
    const auto rows = incidence(design);
    const auto outputs = static_cast<std::uint32_t>(output_count(design));
    for (const bool derived : {false, true}) {
      const std::uint64_t r = points_of(design, 0).size() - (derived ? 1 : 0);
      const BlockDesign used{design, points_by_first_output(design, derived), true, outputs - 1, r};
      const auto weights = block_weights(1, r, outputs - 1);
      for (std::uint32_t x = 0; x < used.kept.size(); ++x) {
        std::set<std::uint32_t> reports, members, expected;
        for (int draw = 0; draw < 2000; ++draw) {
          reports.insert(report(used, x, weights, random));
          members.insert(draw_member(used, x, static_cast<std::uint64_t>(draw) % r, random));
        }
        CHECK(reports.size() == outputs - 1);
        CHECK(*reports.begin() == 1);
        for (std::uint32_t y = 1; y < outputs; ++y)
          if (rows[used.point(x)][y] == 1)
            expected.insert(y);
        CHECK(members == expected);
      }
    }
  }
}

TEST_CASE("over all words of the 16-bit twin every report occurs as often as its weight says") {
  const BlockDesign design = whole(group(singer_family(2, 2)), 3);
  const auto rows = incidence(design.incidence);
  ScriptedRandom random;
  for (const double epsilon : {0.001, 0.5, 1.0, 5.0, 11.0, 1e308}) {
    const auto w = block_weights<std::uint16_t>(epsilon, 3, 7);
    const ExpBound bound = exp_lower(std::min(epsilon, 11.0));
    CHECK(w.inside >= w.outside);
    CHECK(at_most_times(w.inside, bound, w.outside));
    for (const std::uint32_t x : {0u, 3u, 6u}) {
      std::vector<std::uint32_t> counts(7, 0);
      std::uint32_t rejected = 0;
      for (std::uint64_t u = 0; u < 65536; ++u) {
        random.play({u, 0});
        const std::uint32_t y = report(design, x, w, random);
        REQUIRE(y < 7);
        if (random.used() == 1)
          ++counts[y];
        else
          ++rejected;
      }
      for (std::uint32_t y = 0; y < 7; ++y)
        CHECK(counts[y] == (rows[x][y] ? w.inside : w.outside));
      CHECK(rejected == 65536u - w.total());
    }
  }
}

TEST_CASE("weights are sound up to the largest designs, and where words run out") {
  for (const double epsilon : {1e-300, 0.1, 1.0, 29.0, 35.0, 44.0, 1e308}) {
    for (const auto &[r, b] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
             {1, 2}, {25, 101}, {1999999, 4000000}, {1, 4294967295u}, {4294967294u, 4294967295u}}) {
      const auto w = block_weights(epsilon, r, b);
      CHECK(w.outside >= 1);
      CHECK(w.inside >= w.outside);
      CHECK(at_most_times(w.inside, exp_lower(std::min(epsilon, 44.0)), w.outside));
      const u128 total = static_cast<u128>(r) * w.inside + static_cast<u128>(b - r) * w.outside;
      CHECK(total == w.total());
    }
  }
}

TEST_CASE("subsets ascend, have their size, and hold the symbol where the word says so") {
  const auto w = block_weights(1, 3, 8);
  ScriptedRandom random;
  SubsetSampler sampler(8, 3);
  std::vector<std::uint32_t> subset;
  for (const bool member : {true, false}) {
    const std::uint64_t first = member ? 0 : 3 * w.surplus();
    for (std::uint64_t low = 0; low < 8; ++low) {
      // The high bits of a word choose an element; no word is rejected.
      const std::uint64_t word = (low << 61) + (std::uint64_t{1} << 60);
      random.play({first, word, word, word});
      sampler.report(2, w, random, subset);
      CHECK(subset.size() == 3);
      CHECK(std::is_sorted(subset.begin(), subset.end()));
      CHECK(std::adjacent_find(subset.begin(), subset.end()) == subset.end());
      CHECK(subset.back() < 8);
      if (member)
        CHECK(std::find(subset.begin(), subset.end(), 2) != subset.end());
    }
  }
}

TEST_CASE("shared sets repeat for a seed and are close to uniform over seeds") {
  SharedSets sets(7, 3);
  const std::vector<std::uint32_t> once = sets.set(12345);
  CHECK(sets.set(12345) == once);
  std::map<std::vector<std::uint32_t>, int> seen;
  const int seeds = 70000;
  for (int seed = 0; seed < seeds; ++seed) {
    std::vector<std::uint32_t> set = sets.set(static_cast<std::uint32_t>(seed));
    std::sort(set.begin(), set.end());
    ++seen[set];
  }
  CHECK(seen.size() == 35);
  double statistic = 0; // chi-squared with 34 degrees of freedom: above 90 once in a million
  for (const auto &[set, count] : seen)
    statistic += (count - seeds / 35.0) * (count - seeds / 35.0) / (seeds / 35.0);
  CHECK(statistic < 90);
}
