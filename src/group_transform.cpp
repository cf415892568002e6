#include "group_transform.h"
#include <algorithm>
#include <cmath>

namespace confide {

namespace {

// Short axes cost length^2; a padded one of this length costs about as much.
constexpr std::size_t longest_direct = 24;

// The smallest 2^a 3^b 5^c at least n; a multiple of 4, which the real transform wants.
std::size_t smooth_length(std::size_t n) {
  for (std::size_t length = (n + 3) / 4 * 4;; length += 4) {
    std::size_t rest = length;
    for (const std::size_t p : {2u, 3u, 5u})
      while (rest % p == 0)
        rest /= p;
    if (rest == 1)
      return length;
  }
}

using Complex = std::complex<double>;

std::vector<Complex> roots_of_unity(std::size_t n, bool inverse) {
  std::vector<Complex> roots(n);
  const double turn = (inverse ? 2 : -2) * 3.14159265358979323846 / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i)
    roots[i] = std::polar(1.0, turn * static_cast<double>(i));
  return roots;
}

void transform_directly(const std::vector<Complex> &line, const std::vector<Complex> &roots,
                        std::vector<Complex> &result) {
  const std::size_t n = line.size();
  for (std::size_t i = 0; i < n; ++i) {
    Complex sum = 0;
    for (std::size_t j = 0; j < n; ++j)
      sum += roots[i * j % n] * line[j];
    result[i] = sum;
  }
}

} // namespace

GroupTransform::GroupTransform(const std::vector<std::uint32_t> &radices) {
  for (const std::size_t length : radices) {
    axes_.push_back({length, length <= longest_direct ? length : smooth_length(2 * length - 1)});
    size_ *= length;
    padded_size_ *= axes_.back().padded;
    binary_ = binary_ && length == 2;
  }
  fft_.SetFlag(Eigen::FFT<double>::HalfSpectrum); // of real values
}

// Where each element of the group lies in the padded array.
std::vector<std::size_t> GroupTransform::places() const {
  std::vector<std::size_t> result(size_);
  for (std::size_t i = 0; i < size_; ++i) {
    std::size_t rest = i, stride = 1;
    for (const Axis &axis : axes_) {
      result[i] += rest % axis.length * stride;
      rest /= axis.length;
      stride *= axis.padded;
    }
  }
  return result;
}

GroupTransform::Spectrum GroupTransform::forward(const double *values) const {
  if (binary_) {
    std::vector<double> copy(values, values + size_);
    walsh_hadamard(copy.data(), size_);
    return Spectrum(copy.begin(), copy.end());
  }
  if (is_padded_line()) {
    std::vector<double> line(padded_size_);
    std::copy(values, values + size_, line.begin());
    Spectrum spectrum;
    fft_.fwd(spectrum, line);
    return spectrum;
  }
  Spectrum spectrum(padded_size_);
  const std::vector<std::size_t> place = places();
  for (std::size_t i = 0; i < size_; ++i)
    spectrum[place[i]] = values[i];
  transform(spectrum, false);
  return spectrum;
}

void GroupTransform::transform(Spectrum &values, bool inverse) const {
  std::size_t stride = 1;
  for (const Axis &axis : axes_) {
    const std::size_t n = axis.padded;
    const bool direct = n == axis.length;
    const double scale = inverse && direct ? 1 / static_cast<double>(n) : 1;
    const std::vector<Complex> roots = roots_of_unity(direct ? n : 0, inverse);
    std::vector<Complex> line(n), result(n);
    for (std::size_t start = 0; start < padded_size_; ++start) {
      if (start / stride % n != 0)
        continue;
      for (std::size_t i = 0; i < n; ++i)
        line[i] = values[start + i * stride];
      if (direct) {
        transform_directly(line, roots, result);
      } else if (inverse) {
        fft_.inv(result, line);
      } else {
        fft_.fwd(result, line);
      }
      for (std::size_t i = 0; i < n; ++i)
        values[start + i * stride] = result[i] * scale;
    }
    stride *= n;
  }
}

// As backward(), by way of the Hartley transform, sum of h (cos + sin), which is its own inverse:
// it is the real less the imaginary part of a forward transform, so one table of roots does for
// both directions.
Eigen::VectorXd GroupTransform::line_backward(const Spectrum &spectrum, bool correlate) const {
  const std::size_t length = axes_[0].length, padded = padded_size_;
  const auto hartley = [padded](const Spectrum &half, std::size_t i) {
    return i <= padded / 2 ? half[i].real() - half[i].imag()
                           : half[padded - i].real() + half[padded - i].imag();
  };
  std::vector<double> line(padded);
  for (std::size_t i = 0; i < padded; ++i)
    line[i] = hartley(spectrum, i);
  Spectrum back;
  fft_.fwd(back, line);
  const std::size_t shift = correlate ? padded - length : length;
  Eigen::VectorXd result(static_cast<Eigen::Index>(length));
  for (std::size_t i = 0; i < length; ++i)
    result[static_cast<Eigen::Index>(i)] =
        (hartley(back, i) + hartley(back, i + shift)) / static_cast<double>(padded);
  return result;
}

// A padded axis holds the linear convolution, whose second half is folded onto the first: element x
// gathers places x and x + length (or, correlated, x + padded - length).
Eigen::VectorXd GroupTransform::backward(Spectrum spectrum, bool correlate) const {
  if (is_padded_line())
    return line_backward(spectrum, correlate);
  std::vector<double> values(padded_size_);
  if (binary_) {
    for (std::size_t i = 0; i < size_; ++i)
      values[i] = spectrum[i].real() / static_cast<double>(size_);
    walsh_hadamard(values.data(), size_);
    return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(size_));
  }
  transform(spectrum, true);
  for (std::size_t i = 0; i < padded_size_; ++i)
    values[i] = spectrum[i].real();
  std::size_t stride = 1;
  for (const Axis &axis : axes_) {
    const std::size_t shift = correlate ? axis.padded - axis.length : axis.length;
    for (std::size_t place = 0; place < padded_size_ && axis.padded != axis.length; ++place) {
      const std::size_t digit = place / stride % axis.padded;
      if (digit < axis.length && digit + shift < axis.padded)
        values[place] += values[place + shift * stride];
    }
    stride *= axis.padded;
  }
  const std::vector<std::size_t> place = places();
  Eigen::VectorXd result(static_cast<Eigen::Index>(size_));
  for (std::size_t i = 0; i < size_; ++i)
    result[static_cast<Eigen::Index>(i)] = values[place[i]];
  return result;
}

void walsh_hadamard(double *values, std::size_t length, std::size_t stride) {
  for (std::size_t half = 1; half < length; half *= 2) {
    for (std::size_t start = 0; start < length; start += 2 * half) {
      for (std::size_t i = start * stride; i < (start + half) * stride; ++i) {
        const double a = values[i], b = values[i + half * stride];
        values[i] = a + b;
        values[i + half * stride] = a - b;
      }
    }
  }
}

} // namespace confide
