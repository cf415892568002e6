#include "rcpp_handle.h"
#include <Rcpp.h>
#include <stdexcept>
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

constexpr const char *vault_kind = "confide vault";

Vault &vault_of(SEXP handle) {
  if (!is_handle(handle, vault_kind))
    throw std::invalid_argument("not a handle of private numbers");
  return *Rcpp::XPtr<Vault>(handle);
}

} // namespace

// [[Rcpp::export(rng = false)]]
SEXP vault_new(const Rcpp::List &numbers, int process) {
  std::vector<std::vector<double>> kept;
  for (R_xlen_t i = 0; i < numbers.size(); ++i)
    kept.push_back(Rcpp::as<std::vector<double>>(numbers[i]));
  return Rcpp::XPtr<Vault>(new Vault{std::move(kept), process, 0}, true, Rf_install(vault_kind));
}

// False after it went through a file.
// [[Rcpp::export(rng = false)]]
bool vault_lives(SEXP handle) { return is_handle(handle, vault_kind); }

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
