#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

// One term b f(a / b) of each f-divergence, with f shifted so that f(1) = f'(1) = 0. `d` is a - b,
// given apart because it is known to more digits than the difference of the rounded a and b.
namespace confide::spr::terms {

struct Kl {
  // f(1 + u) = (1 + u) log(1 + u) - u = u^2/2 - u^3/6 + u^4/12 - ...
  double operator()(double a, double b, double d) const {
    if (b <= 0)
      return std::numeric_limits<double>::infinity();
    if (a <= 0)
      return b;
    const double u = d / b;
    if (std::fabs(u) >= 0.0625)
      return a * std::log(a / b) - d;
    double series = 1.0 / 182;
    for (const double coefficient : coefficients)
      series = coefficient - u * series;
    return d * u * series;
  }
  static constexpr std::array<double, 12> coefficients{1.0 / 156, 1.0 / 132, 1.0 / 110, 1.0 / 90,
                                                       1.0 / 72,  1.0 / 56,  1.0 / 42,  1.0 / 30,
                                                       1.0 / 20,  1.0 / 12,  1.0 / 6,   1.0 / 2};
};

struct ReverseKl {
  double operator()(double a, double b, double d) const { return Kl{}(b, a, -d); }
};

struct Tv {
  double operator()(double, double, double d) const { return 0.5 * std::fabs(d); }
};

struct Chi2 {
  double operator()(double, double b, double d) const { return d == 0 ? 0 : d * (d / b); }
};

struct Hellinger2 {
  double operator()(double a, double b, double d) const {
    const double difference = d / (std::sqrt(a) + std::sqrt(b));
    return difference * difference;
  }
};

struct Js {
  double operator()(double a, double b, double d) const {
    const double middle = 0.5 * (a + b);
    return 0.5 * (Kl{}(a, middle, 0.5 * d) + Kl{}(b, middle, -0.5 * d));
  }
};

struct HockeyStick {
  double gamma;
  // a - gamma b = d - (gamma - 1) b; below gamma = 1 the mirror image is the shifted f.
  double operator()(double, double b, double d) const {
    const double excess = d - (gamma - 1) * b;
    return std::max(0.0, gamma >= 1 ? excess : -excess);
  }
};

// f(x) = (x^alpha - 1 - alpha (x - 1)) / (alpha - 1), alpha not 1: Renyi's divergence is
// log(1 + (alpha - 1) D_f) / (alpha - 1), and -x^t of Chernoff's information is alpha = t.
class Renyi {
public:
  explicit Renyi(double alpha)
      : alpha_(alpha), series_range_(0.0625 / std::max(1.0, std::fabs(alpha - 2) / 3)) {
    for (std::size_t i = 0; i < ratios_.size(); ++i) {
      const double n = 3.0 + static_cast<double>(i);
      ratios_[i] = (alpha - n + 1) / n; // of binomial coefficients (alpha over n)
    }
  }
  double operator()(double a, double b, double d) const {
    if (a <= 0)
      return b;
    if (b <= 0)
      return alpha_ < 1 ? a * alpha_ / (1 - alpha_) : std::numeric_limits<double>::infinity();
    const double u = d / b;
    if (std::fabs(u) >= series_range_)
      return a * std::expm1((alpha_ - 1) * std::log(a / b)) / (alpha_ - 1) - d;
    double series = 1;
    for (std::size_t i = ratios_.size(); i-- > 0;)
      series = 1 + ratios_[i] * u * series;
    return 0.5 * alpha_ * d * u * series;
  }

private:
  double alpha_, series_range_;
  std::array<double, 13> ratios_;
};

// a (a / b)^power e^(-power log_scale): the leading part of Renyi's f when it would overflow.
struct ScaledPower {
  double power, log_scale;
  double operator()(double a, double b, double) const {
    return a * std::exp(power * (std::log(a / b) - log_scale));
  }
};

} // namespace confide::spr::terms
