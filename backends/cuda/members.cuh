/* What each argument struct consists of, so that one function can look at all
 * views of any op, and a copy can be free of padding. */
#ifndef M2_CUDA_MEMBERS_CUH
#define M2_CUDA_MEMBERS_CUH

#include "backends/cuda/cuda.cuh"

#include <string.h>

#include <tuple>

template <class A> struct members;

/* The size of a struct with members of these types. */
template <class... T> constexpr size_t struct_size()
{
    size_t at = 0;

    ((at = (at + alignof(T) - 1) / alignof(T) * alignof(T) + sizeof(T)), ...);
    return (at + 7) / 8 * 8;
}

template <class A, class M> struct member_type;
template <class A, class M> struct member_type<A, M A::*> {
    using type = M;
};

template <class A, class... P> constexpr bool is_complete(P...)
{
    return struct_size<typename member_type<A, P>::type...>() == sizeof(A);
}

/* A member that is left out, or added to the op table later, does not
 * compile. */
#define MEMBERS(type, ...)                                                     \
    template <> struct members<struct type> {                                  \
        using S = struct type;                                                 \
        static constexpr auto list = std::make_tuple(__VA_ARGS__);             \
        static_assert(is_complete<S>(__VA_ARGS__), #type);                     \
    };

MEMBERS(m2_add, &S::a, &S::b, &S::y)
MEMBERS(m2_scale, &S::y, &S::factor)
MEMBERS(m2_fill, &S::y, &S::value)
MEMBERS(m2_copy, &S::x, &S::y)
MEMBERS(m2_mean_time, &S::B, &S::L, &S::x, &S::y)
MEMBERS(m2_mean_time_backward, &S::B, &S::L, &S::dy, &S::dx, &S::accumulate)
MEMBERS(m2_gather_windows, &S::B, &S::L, &S::horizon, &S::horizon_mode,
        &S::window_norm, &S::eps, &S::features, &S::targets, &S::starts, &S::x,
        &S::y, &S::norms)
MEMBERS(m2_linear, &S::x, &S::w, &S::b, &S::residual, &S::y)
MEMBERS(m2_linear_backward, &S::dy, &S::x, &S::w, &S::dx, &S::dw, &S::db,
        &S::accumulate)
MEMBERS(m2_embed, &S::ids, &S::w, &S::y)
MEMBERS(m2_embed_backward, &S::ids, &S::dy, &S::dw)
MEMBERS(m2_rmsnorm, &S::groups, &S::eps, &S::x, &S::z, &S::w, &S::y, &S::rs)
MEMBERS(m2_rmsnorm_backward, &S::groups, &S::dy, &S::x, &S::z, &S::w, &S::rs,
        &S::dx, &S::dz, &S::dw, &S::accumulate)
MEMBERS(m2_layernorm, &S::eps, &S::x, &S::w, &S::b, &S::y, &S::stats)
MEMBERS(m2_layernorm_backward, &S::dy, &S::x, &S::w, &S::stats, &S::dx, &S::dw,
        &S::db, &S::accumulate)
MEMBERS(m2_silu, &S::x, &S::y)
MEMBERS(m2_silu_backward, &S::dy, &S::x, &S::dx, &S::accumulate)
MEMBERS(m2_conv1d_silu, &S::B, &S::L, &S::K, &S::x, &S::w, &S::b, &S::state,
        &S::y, &S::state_out)
MEMBERS(m2_conv1d_silu_backward, &S::B, &S::L, &S::K, &S::dy, &S::x, &S::w,
        &S::b, &S::state, &S::dstate_out, &S::dx, &S::dw, &S::db, &S::dstate)
MEMBERS(m2_dt, &S::low, &S::high, &S::raw, &S::bias, &S::dt)
MEMBERS(m2_dt_backward, &S::low, &S::high, &S::ddt, &S::raw, &S::bias, &S::draw,
        &S::dbias)
MEMBERS(m2_ssd, &S::B, &S::L, &S::H, &S::P, &S::G, &S::N, &S::Q, &S::last_only,
        &S::x, &S::dt, &S::a_log, &S::b, &S::c, &S::d, &S::h0, &S::y,
        &S::h_final, &S::states)
MEMBERS(m2_ssd_backward, &S::B, &S::L, &S::H, &S::P, &S::G, &S::N, &S::Q,
        &S::last_only, &S::dy, &S::x, &S::dt, &S::a_log, &S::b, &S::c, &S::d,
        &S::states, &S::dh_final, &S::dx, &S::ddt, &S::da_log, &S::db, &S::dc,
        &S::dd, &S::dh0)
MEMBERS(m2_loss, &S::delta, &S::scale, &S::pred, &S::target, &S::out, &S::dpred)
MEMBERS(m2_xent, &S::ignore, &S::scale, &S::logits, &S::labels, &S::out,
        &S::dlogits)
MEMBERS(m2_sumsq, &S::x, &S::out, &S::accumulate)
MEMBERS(m2_clip, &S::max_norm, &S::x, &S::sumsq, &S::out, &S::also)
MEMBERS(m2_adamw, &S::beta1, &S::beta2, &S::eps, &S::weight_decay, &S::p, &S::g,
        &S::m, &S::v, &S::step, &S::finite)
MEMBERS(m2_spectral, &S::mode, &S::rho, &S::dt_ref, &S::a_log, &S::finite)
MEMBERS(m2_conv1d_step, &S::K, &S::x, &S::w, &S::b, &S::state, &S::y)
MEMBERS(m2_ssd_step, &S::H, &S::P, &S::G, &S::N, &S::x, &S::dt, &S::a_log,
        &S::b, &S::c, &S::d, &S::h, &S::y)

/* Calls visit(member) for each of them, in order. */
template <class A, class F>
static inline void each_member(const A &a, F &&visit)
{
    std::apply([&](auto... at) { (visit(a.*at), ...); }, members<A>::list);
}

template <class T> static inline size_t bytes_without_padding(const T &)
{
    return sizeof(T);
}
static inline size_t bytes_without_padding(const struct m2_view &)
{
    return offsetof(struct m2_view, dtype) + sizeof(enum m2_dtype);
}

/* A copy whose padding is zero: two calls are equal when their bytes are. */
template <class A> static inline void copy_members(void *to, const A &from)
{
    memset(to, 0, sizeof from);
    each_member(from, [&](const auto &member) {
        size_t at = (size_t)((const char *)&member - (const char *)&from);

        memcpy((char *)to + at, &member, bytes_without_padding(member));
    });
}

#endif
