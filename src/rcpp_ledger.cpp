#include "ledger.h"
#include "rcpp_handle.h"
#include <Rcpp.h>
#include <stdexcept>
#include <string>

namespace {

// The R object holds a pointer to this and nothing that counts, so that no copy of it, in a file or
// another process, goes on spending on its own.
struct LedgerState {
  confide::Ledger ledger;
  double alpha;
  std::string neighbours;
  int process;
};

constexpr const char *ledger_kind = "confide ledger";

LedgerState &state_of(SEXP handle) {
  if (!is_handle(handle, ledger_kind))
    throw std::invalid_argument("not a handle of a ledger");
  return *Rcpp::XPtr<LedgerState>(handle);
}

} // namespace

// [[Rcpp::export(rng = false)]]
SEXP ledger_new(double alpha, const std::string &neighbours, double limit, int process) {
  return Rcpp::XPtr<LedgerState>(
      new LedgerState{confide::Ledger(limit), alpha, neighbours, process}, true,
      Rf_install(ledger_kind));
}

// False after it went through a file.
// [[Rcpp::export(rng = false)]]
bool ledger_lives(SEXP handle) { return is_handle(handle, ledger_kind); }

// [[Rcpp::export(rng = false)]]
double ledger_alpha(SEXP handle) { return state_of(handle).alpha; }

// [[Rcpp::export(rng = false)]]
std::string ledger_neighbours(SEXP handle) { return state_of(handle).neighbours; }

// [[Rcpp::export(rng = false)]]
int ledger_process(SEXP handle) { return state_of(handle).process; }

// [[Rcpp::export(rng = false)]]
bool ledger_charge(SEXP handle, const std::string &what, const std::string &part, double epsilon) {
  return state_of(handle).ledger.charge({what, part, epsilon});
}

// [[Rcpp::export(rng = false)]]
void ledger_refund(SEXP handle, const std::string &what, const std::string &part, double epsilon) {
  state_of(handle).ledger.refund({what, part, epsilon});
}

// [[Rcpp::export(rng = false)]]
double ledger_spent(SEXP handle) { return state_of(handle).ledger.spent(); }

// [[Rcpp::export(rng = false)]]
double ledger_spent_with(SEXP handle, const std::string &part, double epsilon) {
  return state_of(handle).ledger.spent_with({"", part, epsilon});
}

// Named by part: what a person of that part is charged.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector ledger_parts(SEXP handle) {
  const confide::Ledger &ledger = state_of(handle).ledger;
  Rcpp::NumericVector spent;
  for (const std::string &part : ledger.parts())
    spent.push_back(ledger.spent_in(part), part);
  return spent;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List ledger_entries(SEXP handle) {
  const auto &entries = state_of(handle).ledger.entries();
  const auto size = static_cast<R_xlen_t>(entries.size());
  Rcpp::CharacterVector what(size), part(size);
  Rcpp::NumericVector epsilon(size);
  for (R_xlen_t i = 0; i < size; ++i) {
    const confide::LedgerEntry &entry = entries[static_cast<std::size_t>(i)];
    what[i] = Rcpp::String(entry.what, CE_UTF8);
    part[i] = entry.part.empty() ? Rcpp::String(NA_STRING) : Rcpp::String(entry.part, CE_UTF8);
    epsilon[i] = entry.epsilon;
  }
  return Rcpp::List::create(Rcpp::Named("what") = what, Rcpp::Named("part") = part,
                            Rcpp::Named("epsilon") = epsilon);
}
