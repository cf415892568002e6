#pragma once
#include "bytes.h"

// Each takes parameters from the bytes, runs one topic of the core and aborts where an invariant
// does not hold.
namespace confide {

// designs_fuzz.cpp
void fuzz_finite_field(Bytes &bytes);
void fuzz_block_design(Bytes &bytes);
void fuzz_block_sampler(Bytes &bytes);
void fuzz_group_transform(Bytes &bytes);

// hypotheses_fuzz.cpp
void fuzz_spr(Bytes &bytes);
void fuzz_spr_continuous(Bytes &bytes);

// tables_fuzz.cpp
void fuzz_lambda(Bytes &bytes);
void fuzz_cells(Bytes &bytes);
void fuzz_likelihood(Bytes &bytes);
void fuzz_log_linear(Bytes &bytes);
void fuzz_composition(Bytes &bytes);

// releases_fuzz.cpp
void fuzz_rounding(Bytes &bytes);
void fuzz_ledger(Bytes &bytes);
void fuzz_brownian(Bytes &bytes);
void fuzz_laplace_path(Bytes &bytes);
void fuzz_count_search(Bytes &bytes);
void fuzz_exponential_mechanism(Bytes &bytes);

// people_fuzz.cpp
void fuzz_records(Bytes &bytes);
void fuzz_scatter(Bytes &bytes);
void fuzz_tree_model(Bytes &bytes);
void fuzz_tree_selection(Bytes &bytes);

} // namespace confide
