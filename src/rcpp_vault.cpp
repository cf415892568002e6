#include <Rcpp.h>
#include <vector>

// Private numbers behind an external pointer: print(), str(), serialize() and saveRDS() cannot
// reach them. The version counts how often they were used, so that a stale copy of what points here
// is noticed.

namespace {

struct Vault {
  std::vector<std::vector<double>> numbers;
  int process;
  double version;
};

Vault &vault_of(SEXP handle) { return *Rcpp::XPtr<Vault>(handle); }

} // namespace

// [[Rcpp::export(rng = false)]]
SEXP vault_new(const Rcpp::List &numbers, int process) {
  std::vector<std::vector<double>> kept;
  for (R_xlen_t i = 0; i < numbers.size(); ++i)
    kept.push_back(Rcpp::as<std::vector<double>>(numbers[i]));
  return Rcpp::XPtr<Vault>(new Vault{std::move(kept), process, 0}, true);
}

// Of any external pointer: false after it went through a file.
// [[Rcpp::export(rng = false)]]
bool handle_lives(SEXP handle) {
  return TYPEOF(handle) == EXTPTRSXP && R_ExternalPtrAddr(handle) != nullptr;
}

// [[Rcpp::export(rng = false)]]
int vault_process(SEXP handle) { return vault_of(handle).process; }

// [[Rcpp::export(rng = false)]]
double vault_version(SEXP handle) { return vault_of(handle).version; }

// [[Rcpp::export(rng = false)]]
void vault_advance(SEXP handle) { vault_of(handle).version += 1; }

// Private. The first list entry is 1.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector vault_numbers(SEXP handle, int entry) {
  return Rcpp::wrap(vault_of(handle).numbers.at(static_cast<std::size_t>(entry - 1)));
}
