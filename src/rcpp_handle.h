#pragma once
#include <Rcpp.h>

// An external pointer of ours, of this kind, that did not go through a file. The tag is what keeps
// a pointer from being read as something else than it points to.
inline bool is_handle(SEXP handle, const char *kind) {
  return TYPEOF(handle) == EXTPTRSXP && R_ExternalPtrTag(handle) == Rf_install(kind) &&
         R_ExternalPtrAddr(handle) != nullptr;
}
