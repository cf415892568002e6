#pragma once
#include "block_construction.h"
#include "random.h"
#include <cstdint>
#include <variant>
#include <vector>

// A block design gives each point x a set I_x of r of the b outputs such that two such sets share
// lambda outputs. Points and outputs are numbers from 0.
namespace confide {

// I_x = x + D_a in copy a of a group. Output a v + c is element c of copy a.
struct GroupDesign {
  std::vector<std::uint32_t> radices;
  std::size_t points, blocks, size; // of the group, number of base blocks, elements of each
  Labels base;
};

// Points and outputs are the rows and columns but the first of a normalised Hadamard matrix, the
// Kronecker product of a Sylvester matrix of order `doubled` with a core, of order 4 at least; I_x
// holds the columns with +1.
struct HadamardDesign {
  std::size_t doubled;
  SignMatrix core;

  std::size_t order() const { return doubled * core.order; }
};

// Any design: the r outputs of each point, one point after the other.
struct ListedDesign {
  std::size_t points, outputs, size;
  Labels members;
};

using Incidence = std::variant<GroupDesign, HadamardDesign, ListedDesign>;

// Calls the function for the kind of design.
template <class... Functions> struct Overloaded : Functions... { using Functions::operator()...; };
template <class... Functions> Overloaded(Functions...) -> Overloaded<Functions...>;

GroupDesign make_group_design(DifferenceFamily family);
HadamardDesign make_hadamard_design(std::size_t doubled, std::uint32_t core_order);

std::size_t point_count(const Incidence &design);
std::size_t output_count(const Incidence &design);

// What is used of a design: the points kept (all of the first ones where `kept` is empty), and all
// outputs or all but output 0. Kept points that all avoid output 0 make the residual design, kept
// points that all have it the derived one.
struct BlockDesign {
  Incidence incidence;
  Labels kept;
  bool excluded;
  std::uint64_t outputs, inside; // b and r of what is used

  std::uint32_t point(std::uint32_t symbol) const { return kept.empty() ? symbol : kept[symbol]; }
};

// A uniform output in I_x, given a uniform number below r. O(1). Where the design has no formula
// for its members it draws outputs until one fits, which takes as long for any x.
std::uint32_t draw_member(const BlockDesign &design, std::uint32_t symbol, std::uint64_t number,
                          RandomSource &random);

// Points of the whole design that have an output.
Labels points_of(const Incidence &design, std::uint32_t output);

// Points with output 0, or without it, in ascending order.
Labels points_by_first_output(const Incidence &design, bool having);

} // namespace confide
