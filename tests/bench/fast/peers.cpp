// SPDX-License-Identifier: BSL-1.0
// What tests/bench/peers.py measures beside NumPy and PyTorch: functions for its process, each runs one thing once and returns the seconds.
//   g++ -O3 -march=native -shared -fPIC -std=c++20 -Iinclude tests/bench/fast/peers.cpp -o peers.so

#include "../clock.hpp"

#include "attest/fast/attention.hpp"
#include "attest/formula/attention.hpp"

#if __has_include(<eigen3/Eigen/Dense>)
#include <eigen3/Eigen/Dense>
#elif __has_include(<Eigen/Dense>)
#include <Eigen/Dense>
#endif

#include <cstring>
#include <optional>

namespace {

using namespace attest;
using dyn = axis<dynamic>;
using rows = view<const double, dyn, dyn>;

rows matrix(const double* at, std::size_t n, std::size_t d) { return rows(at, extents<dyn, dyn>(n, d)); }

} // namespace

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {
// Products and sums in registers alone, as many independent ones as a tile of the matrix product has.
__attribute__((noinline)) double peak(std::size_t steps) {
    pack sums[tile_rows][tile_vectors];
    for (auto& row : sums)
        for (pack& sum : row) sum = pack::zero();
    pack a = pack::broadcast(0x1p-30);
    const pack b = pack::broadcast(0x1p-40);
    for (; steps > 0; --steps) {
        a = unfused(a); // lest the compiler multiplies once and for all
        ATTEST_FAST_UNROLL
        for (std::size_t r = 0; r < tile_rows; ++r) {
            ATTEST_FAST_UNROLL
            for (std::size_t v = 0; v < tile_vectors; ++v) sums[r][v] = multiply_add(a, b, sums[r][v]);
        }
    }
    double total = 0;
    for (const auto& row : sums)
        for (const pack& sum : row) {
            double lanes[pack::lanes];
            sum.store(lanes);
            total += lanes[0];
        }
    return total;
}
} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

extern "C" {

const char* attest_kernels() { return fast::compiled_kernels().name; }

/// Seconds that so many floating-point operations take at the processor's peak.
double attest_peak(double operations) {
    constexpr double each = 2.0 * fast::ATTEST_FAST_TARGET::pack::lanes * fast::ATTEST_FAST_TARGET::tile_rows * fast::ATTEST_FAST_TARGET::tile_vectors;
    const auto steps = static_cast<std::size_t>(operations / each);
    volatile double sink = 0;
    return processor_seconds([&] { sink = fast::ATTEST_FAST_TARGET::peak(steps); });
}

double attest_attention(const double* q, const double* k, const double* v, double* out, std::size_t n, std::size_t d, int causal) {
    std::optional<tensor<double, dyn, dyn>> result;
    const double time = processor_seconds([&] {
        if (causal != 0) result = fast::attention(matrix(q, n, d), matrix(k, n, d), matrix(v, n, d), causal_top_left{});
        else result = fast::attention(matrix(q, n, d), matrix(k, n, d), matrix(v, n, d));
    });
    std::memcpy(out, result->data(), n * d * sizeof(double));
    return time;
}

/// So many heads on so many threads, by the clock at the wall.
double attest_heads(const double* q, const double* k, const double* v, std::size_t heads, std::size_t n, std::size_t d, unsigned threads) {
    const auto stack = [&](const double* at) { return view<const double, dyn, dyn, dyn>(at, extents<dyn, dyn, dyn>(heads, n, d)); };
    return wall_seconds([&] { (void)fast::attention(stack(q), stack(k), stack(v), everything{}, {.threads = threads}); });
}

/// The two matrix products of attention alone, with attest's kernels.
double attest_products(const double* q, const double* k, double* out, std::size_t n, std::size_t d) {
    const fast::kernels& kernel = fast::compiled_kernels();
    const fast::buffer packed(fast::packed_elements(kernel, d, n)), values(fast::packed_elements(kernel, n, d)), scores(60 * n);
    const auto row = static_cast<std::ptrdiff_t>(d), wide = static_cast<std::ptrdiff_t>(n);
    return processor_seconds([&] {
        kernel.pack({k, 1, row}, d, n, packed.data());
        kernel.pack({k, row}, n, d, values.data());
        for (std::size_t i = 0; i < n; i += 60) {
            const std::size_t m = n - i < 60 ? n - i : 60;
            kernel.multiply({.a = {q + i * d, row}, .m = m, .depth = d, .b = packed.data(), .b_depth = d, .n = n, .c = scores.data(), .c_row = wide});
            kernel.multiply({.a = {scores.data(), wide}, .m = m, .depth = n, .b = values.data(), .b_depth = n, .n = d, .c = out + i * d, .c_row = row});
        }
    });
}

#ifdef EIGEN_WORLD_VERSION
double eigen_attention(const double* q, const double* k, const double* v, double* out, std::size_t n, std::size_t d) {
    using dynamic_matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using input = Eigen::Map<const dynamic_matrix>;
    const auto h = static_cast<Eigen::Index>(n), w = static_cast<Eigen::Index>(d);
    return processor_seconds([&] {
        dynamic_matrix s = (input(q, h, w) * input(k, h, w).transpose()) * (1 / std::sqrt(static_cast<double>(d)));
        s = (s.colwise() - s.rowwise().maxCoeff()).array().exp().matrix();
        const Eigen::VectorXd sums = s.rowwise().sum();
        Eigen::Map<dynamic_matrix>(out, h, w) = (s * input(v, h, w)).array().colwise() / sums.array();
    });
}
#endif

/// Fixed n = d: seconds for `repeats` calls, one after another; 0 where there is no Eigen. `out`: what they give.
double fixed_attention(int size, int eigen, const double* q, const double* k, const double* v, double* out, std::size_t repeats) {
    const auto with = [&]<int N>() {
#ifdef EIGEN_WORLD_VERSION
        if (eigen != 0) {
            using square = Eigen::Matrix<double, N, N, N == 1 ? Eigen::ColMajor : Eigen::RowMajor>;
            const square a = Eigen::Map<const square>(q), b = Eigen::Map<const square>(k), c = Eigen::Map<const square>(v);
            return processor_seconds([&] {
                for (std::size_t i = 0; i < repeats; ++i) {
                    square s = (a * b.transpose()) * (1 / std::sqrt(static_cast<double>(N)));
                    s = (s.colwise() - s.rowwise().maxCoeff()).array().exp().matrix();
                    const Eigen::Matrix<double, N, 1> sums = s.rowwise().sum();
                    Eigen::Map<square>{out} = (s * c).array().colwise() / sums.array();
                    __asm__ volatile("" : : "r"(&a), "r"(&b), "r"(&c), "r"(out) : "memory");
                }
            });
        }
#endif
        if (eigen != 0) return 0.0;
        struct n_axis : axis<N> {};
        struct d_axis : axis<N> {};
        const view<const double, n_axis, d_axis> a(q, {}), b(k, {}), c(v, {});
        const double time = processor_seconds([&] {
            for (std::size_t i = 0; i < repeats; ++i) {
                const auto result = fast::attention(a, b, c);
                __asm__ volatile("" : : "r"(q), "r"(k), "r"(v), "r"(result.data()) : "memory");
            }
        });
        const auto result = fast::attention(a, b, c);
        std::memcpy(out, result.data(), N * N * sizeof(double));
        return time;
    };
    switch (size) {
    case 4: return with.template operator()<4>();
    case 8: return with.template operator()<8>();
    case 16: return with.template operator()<16>();
    case 32: return with.template operator()<32>();
    default: return with.template operator()<64>();
    }
}
}
