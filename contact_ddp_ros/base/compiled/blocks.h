/* Products of small row-major matrices whose sizes are known to the compiler. Every one is a'b: of the result a block
 * of a few rows and one to three vectors of columns stays in registers while rows of a and b go by.
 *
 * Rows are padded: of every matrix to a multiple of WIDTH, of results to a multiple of a block's rows besides; whatever
 * is computed there is never used.
 */
#pragma GCC optimize("O3")
#include <math.h>
#include <string.h>

#if defined(__AVX512F__)
#define WIDTH 8
#elif defined(__AVX__)
#define WIDTH 4
#else
#define WIDTH 2
#endif
/* Vectors of columns of a block of so many rows: it must fit into 32 or 16 registers. */
#define WIDEST(rows) (WIDTH == 8 ? 3 : (rows) > 6 ? 1 : 2)

#define VECTORS(n) (((n) + WIDTH - 1) / WIDTH)
#define PADDED(n) (VECTORS(n) * WIDTH)
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define MULTIPLE(n, rows) (((n) + (rows) - 1) / (rows) * (rows))
/* Rows of a block for n rows in all: of the numbers that leave the least padding the largest. */
#define LESS_PADDING(n, r, other) (MULTIPLE(n, r) <= MULTIPLE(n, other) ? (r) : (other))
#define BLOCK_ROWS(n) LESS_PADDING(n, LESS_PADDING(n, 8, 7), LESS_PADDING(n, 6, LESS_PADDING(n, 5, 4)))
#define PADDED_ROWS(n) MULTIPLE(n, BLOCK_ROWS(n))

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define ALIGNED __attribute__((aligned(64)))
#define UNROLLED _Pragma("GCC unroll 16")

typedef double vec __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));

ALWAYS_INLINE vec load(const double *a) { return *(const vec *)a; }
ALWAYS_INLINE void store(double *a, vec v) { *(vec *)a = v; }

#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLE __builtin_shufflevector
#endif
#endif

/* Write the transpose of a (4, 4) into b. */
ALWAYS_INLINE void transpose_block(const double *a, int a_stride, double *b, int b_stride)
{
#ifdef SHUFFLE
    typedef double quad __attribute__((vector_size(32), aligned(8), may_alias));
    const quad r0 = *(const quad *)a, r1 = *(const quad *)(a + a_stride);
    const quad r2 = *(const quad *)(a + 2 * a_stride), r3 = *(const quad *)(a + 3 * a_stride);
    const quad even = SHUFFLE(r0, r1, 0, 4, 2, 6), odd = SHUFFLE(r0, r1, 1, 5, 3, 7);
    const quad even_below = SHUFFLE(r2, r3, 0, 4, 2, 6), odd_below = SHUFFLE(r2, r3, 1, 5, 3, 7);
    *(quad *)b = SHUFFLE(even, even_below, 0, 1, 4, 5);
    *(quad *)(b + b_stride) = SHUFFLE(odd, odd_below, 0, 1, 4, 5);
    *(quad *)(b + 2 * b_stride) = SHUFFLE(even, even_below, 2, 3, 6, 7);
    *(quad *)(b + 3 * b_stride) = SHUFFLE(odd, odd_below, 2, 3, 6, 7);
#else
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            b[j * b_stride + i] = a[i * a_stride + j];
#endif
}

/* Write the transpose of a (rows, columns) into b. */
ALWAYS_INLINE void transpose(int rows, int columns, const double *a, int a_stride, double *b, int b_stride)
{
    const int whole = columns / 4 * 4;
    int i = 0;
    for (; i + 4 <= rows; i += 4) {
        for (int j = 0; j < whole; j += 4)
            transpose_block(a + i * a_stride + j, a_stride, b + j * b_stride + i, b_stride);
        for (int r = i; r < i + 4; r++)
            for (int j = whole; j < columns; j++)
                b[j * b_stride + r] = a[r * a_stride + j];
    }
    for (; i < rows; i++)
        for (int j = 0; j < columns; j++)
            b[j * b_stride + i] = a[i * a_stride + j];
}

/* Write a'b into a block of c of `rows` rows and `wide` vectors, or add it where not `fresh`; a and b have `inner` rows. */
ALWAYS_INLINE void write_block(const int rows, const int wide, const int fresh, int inner, const double *a,
                               int a_stride, const double *b, int b_stride, double *c, int c_stride)
{
    vec sum[8][3];
    UNROLLED for (int i = 0; i < rows; i++)
        UNROLLED for (int j = 0; j < wide; j++)
            sum[i][j] = fresh ? (vec){0.0} : load(c + i * c_stride + j * WIDTH);
    for (int p = 0; p < inner; p++, a += a_stride, b += b_stride) {
        vec row[3];
        UNROLLED for (int j = 0; j < wide; j++)
            row[j] = load(b + j * WIDTH);
        UNROLLED for (int i = 0; i < rows; i++)
            UNROLLED for (int j = 0; j < wide; j++)
                sum[i][j] += a[i] * row[j];
    }
    UNROLLED for (int i = 0; i < rows; i++)
        UNROLLED for (int j = 0; j < wide; j++)
            store(c + i * c_stride + j * WIDTH, sum[i][j]);
}

/* The same for all blocks of c, of `rows` rows and `vectors` vectors of columns; where `upper`, only for those that reach
 * its diagonal or lie right of it. */
ALWAYS_INLINE void write_product(int rows, int vectors, const int fresh, const int upper, int inner, const double *a,
                                 int a_stride, const double *b, int b_stride, double *c, int c_stride)
{
    const int block_rows = BLOCK_ROWS(rows), widest = WIDEST(block_rows);
    for (int i = 0; i < rows; i += block_rows) {
        for (int j = upper ? i / WIDTH : 0, wide; j < vectors; j += wide) {
            const double *left = a + i, *right = b + j * WIDTH;
            double *out = c + i * c_stride + j * WIDTH;
            wide = vectors - j < widest ? vectors - j : widest;
            if (widest == 3 && wide == 3)
                write_block(block_rows, 3, fresh, inner, left, a_stride, right, b_stride, out, c_stride);
            else if (widest > 1 && wide == 2)
                write_block(block_rows, 2, fresh, inner, left, a_stride, right, b_stride, out, c_stride);
            else
                write_block(block_rows, 1, fresh, inner, left, a_stride, right, b_stride, out, c_stride);
        }
    }
}
