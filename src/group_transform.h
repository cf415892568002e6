#pragma once
#include <Eigen/Core>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <unsupported/Eigen/FFT>
#include <vector>

namespace confide {

// Convolution and correlation over a product of cyclic groups through a discrete Fourier transform.
// A short axis is transformed as it is; a long one is padded to a length of small factors, never
// taken at its own length, which may be prime. Axes of length 2 throughout are a Walsh-Hadamard
// transform. O(v log v) and memory for two padded arrays.
class GroupTransform {
public:
  explicit GroupTransform(const std::vector<std::uint32_t> &radices);

  using Spectrum = std::vector<std::complex<double>>;

  Spectrum forward(const double *values) const;

  // sum over y of a[y] b[x - y], or with `correlate` of a[y] b[y - x], where the spectrum is the
  // product of that of a and that of b (its conjugate).
  Eigen::VectorXd backward(Spectrum spectrum, bool correlate) const;

private:
  struct Axis {
    std::size_t length, padded;
  };
  bool is_padded_line() const { return axes_.size() == 1 && axes_[0].padded != axes_[0].length; }
  void transform(Spectrum &values, bool inverse) const;
  Eigen::VectorXd line_backward(const Spectrum &spectrum, bool correlate) const;
  std::vector<std::size_t> places() const;

  std::vector<Axis> axes_;
  std::size_t size_ = 1, padded_size_ = 1;
  bool binary_ = true;             // all axes have length 2
  mutable Eigen::FFT<double> fft_; // keeps its tables of roots
};

// In place, length a power of two.
void walsh_hadamard(double *values, std::size_t length, std::size_t stride = 1);

} // namespace confide
