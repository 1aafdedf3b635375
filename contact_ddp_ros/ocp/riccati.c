/* One node of the backward sweep for sizes known when it is compiled; backward.py has the equations.
 *
 * NX, NU: states and controls. HALVED: 1 where x = (q, v) and q+ = q + s v+, so that the products are formed of the lower
 * half B of fz alone.
 *
 * Controls come first, z = (u, x): of Qzz the upper triangle is formed, and its first NU rows are then [Quu Qux], with Qu
 * as one more column.
 */
#define NZ (NX + NU)
#define N (HALVED ? NX / 2 : NX)
#define ZS PADDED(LARGER(NU + PADDED(NX + 1), PADDED_ROWS(NZ)))
#define XS PADDED(LARGER(NX + 1, PADDED_ROWS(NX)))
#define Z_ROWS LARGER(PADDED_ROWS(NZ), NU + PADDED_ROWS(NX))

enum { FX, FU, LX, LU, LXX, LUX, LUU, VX, VXX, SXX, SUX, SUU, NUMBERS };
enum { STEP, GAIN, VX_HERE, VXX_HERE, SUMS };
enum { POSITION_STEP, THETA, RHO, HAS_CONTROL };
enum { LINEAR, QUADRATIC, GRADIENT };

typedef struct {
    double f[N][ZS] ALIGNED;                  /* the rows of [fu fx] that products are formed of */
    double v[N][XS] ALIGNED;                  /* [M' W], or V' */
    double vf[PADDED_ROWS(NX)][ZS] ALIGNED;   /* [M B; W B], or V' f */
    double q[Z_ROWS][ZS] ALIGNED;             /* Qzz */
    double qz[ZS] ALIGNED;
    double u[NU][PADDED(NU)] ALIGNED;         /* Quu + rho I = U'U */
    double y[NU][XS] ALIGNED;                 /* U'^-1 [Qux Qu] */
    double k[NU][XS] ALIGNED;                 /* [K k] */
    double d[NU][XS] ALIGNED;                 /* Qux - rho K */
} Work;

/* row = a + factor b, of `size` entries, which is all of `a` where factor is 0. */
ALWAYS_INLINE void write_sum(int size, const double *a, double factor, const double *b, double *row)
{
    if (factor > 0.0)
        for (int j = 0; j < size; j++)
            row[j] = a[j] + factor * b[j];
    else
        for (int j = 0; j < size; j++)
            row[j] = a[j];
}

/* f, and as the first part of Q the cost and theta S. */
static inline void stack(const double **arg, Work *w)
{
    const double *fx = arg[FX] + (NX - N) * NX, *fu = arg[FU] + (NX - N) * NU, theta = arg[NUMBERS][THETA];
    for (int i = 0; i < N; i++) {
        write_sum(NU, fu + i * NU, 0.0, 0, w->f[i]);
        write_sum(NX, fx + i * NX, 0.0, 0, w->f[i] + NU);
        for (int j = NZ; j < ZS; j++)
            w->f[i][j] = 0.0;
    }
    for (int i = 0; i < Z_ROWS; i++) {
        for (int j = 0; j < NU; j++)
            w->q[i][j] = 0.0;
        for (int j = i < NZ ? NZ : NU; j < ZS; j++)
            w->q[i][j] = 0.0;
    }
    for (int a = 0; a < NU; a++) {
        write_sum(NU, arg[LUU] + a * NU, theta, arg[SUU] + a * NU, w->q[a]);
        write_sum(NX, arg[LUX] + a * NX, theta, arg[SUX] + a * NX, w->q[a] + NU);
        w->qz[a] = arg[LU][a];
    }
    for (int i = 0; i < NX; i++) {
        write_sum(NX, arg[LXX] + i * NX, theta, arg[SXX] + i * NX, w->q[NU + i] + NU);
        w->qz[NU + i] = arg[LX][i];
    }
    for (int j = NZ; j < ZS; j++)
        w->qz[j] = 0.0;
}

/* What V' does to f, for V' that is symmetric: row i of M' is s V'qq + V'vq, that of W is s M + s V'vq + V'vv. */
static inline void stack_value(const double **arg, double *ahead, Work *w)
{
    const double *vx = arg[VX], *vxx = arg[VXX], s = arg[NUMBERS][POSITION_STEP];
    for (int i = 0; i < N; i++) {
        double *row = w->v[i];
        if (HALVED) {
            const double *upper = vxx + i * NX, *lower = vxx + (N + i) * NX;
            for (int j = 0; j < N; j++) {
                row[j] = s * upper[j] + lower[j];
                row[N + j] = s * (row[j] + upper[N + j]) + lower[N + j];
            }
            ahead[i] = s * vx[i] + vx[N + i];
        } else {
            for (int j = 0; j < NX; j++)
                row[j] = vxx[i * NX + j];
            ahead[i] = vx[i];
        }
        for (int j = NX; j < XS; j++)
            row[j] = 0.0;
    }
}

/* Qz and Qzz get fz'V'x and fz'V'xx fz. */
static inline void add_dynamics(const double **arg, const double *ahead, Work *w)
{
    const double *vx = arg[VX], *vxx = arg[VXX];
    write_product(NX, VECTORS(NZ), 1, 0, N, w->v[0], XS, w->f[0], ZS, w->vf[0], ZS);
    if (HALVED) {
        for (int i = 0; i < N; i++) {
            double *row = w->q[NU + i] + NU;
            for (int j = 0; j < N; j++)
                row[j] += vxx[i * NX + j] + w->vf[i][NU + j];
            for (int j = N; j < NX; j++)
                row[j] += w->vf[i][NU + j];
            for (int j = i; j < N; j++)
                row[j] += w->vf[j][NU + i];
            w->qz[NU + i] += vx[i];
        }
        for (int a = 0; a < NU; a++)
            for (int i = 0; i < N; i++)
                w->q[a][NU + i] += w->vf[i][a];
    }
    write_product(NZ, VECTORS(NZ), 0, 1, N, w->f[0], ZS, w->vf[NX - N], ZS, w->q[0], ZS);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < ZS; j++)
            w->qz[j] += ahead[i] * w->f[i][j];
}

/* U and y row by row; 1 where a pivot is not positive, or not a number. */
static inline int factorise(double rho, Work *w, double *inverse)
{
    for (int a = 0; a < NU; a++) {
        vec left[VECTORS(NU)], right[VECTORS(NX + 1)];
        w->q[a][NZ] = w->qz[a];
        UNROLLED for (int j = 0; j < VECTORS(NU); j++)
            left[j] = load(w->q[a] + j * WIDTH);
        UNROLLED for (int j = 0; j < VECTORS(NX + 1); j++)
            right[j] = load(w->q[a] + NU + j * WIDTH);
        for (int b = 0; b < a; b++) {
            const double factor = w->u[b][a];
            UNROLLED for (int j = 0; j < VECTORS(NU); j++)
                left[j] -= factor * load(w->u[b] + j * WIDTH);
            UNROLLED for (int j = 0; j < VECTORS(NX + 1); j++)
                right[j] -= factor * load(w->y[b] + j * WIDTH);
        }
        UNROLLED for (int j = 0; j < VECTORS(NU); j++)
            store(w->u[a] + j * WIDTH, left[j]);
        const double pivot = w->u[a][a] + rho;
        if (!(pivot > 0.0))
            return 1;
        inverse[a] = 1.0 / sqrt(pivot);
        UNROLLED for (int j = 0; j < VECTORS(NU); j++)
            store(w->u[a] + j * WIDTH, left[j] * inverse[a]);
        UNROLLED for (int j = 0; j < VECTORS(NX + 1); j++)
            store(w->y[a] + j * WIDTH, right[j] * inverse[a]);
    }
    return 0;
}

/* U [K k] = -y */
static inline void solve(const double *inverse, Work *w)
{
    for (int a = NU - 1; a >= 0; a--) {
        vec row[VECTORS(NX + 1)];
        UNROLLED for (int j = 0; j < VECTORS(NX + 1); j++)
            row[j] = load(w->y[a] + j * WIDTH);
        for (int b = a + 1; b < NU; b++) {
            const double factor = w->u[a][b];
            UNROLLED for (int j = 0; j < VECTORS(NX + 1); j++)
                row[j] += factor * load(w->k[b] + j * WIDTH);
        }
        UNROLLED for (int j = 0; j < VECTORS(NX + 1); j++)
            store(w->k[a] + j * WIDTH, -inverse[a] * row[j]);
    }
}

/* Step and gain, and what they bring: the cost's expected change, and V = Q + K'(Qux - rho K) in the place of Q. */
static inline void take_step(double rho, double **res, Work *w)
{
    double *sums = res[SUMS];
    for (int a = 0; a < NU; a++) {
        const double slope = w->qz[a], change = w->k[a][NX];
        res[STEP][a] = change;
        sums[LINEAR] += change * slope;
        sums[QUADRATIC] -= 0.5 * change * (slope + rho * change);
        sums[GRADIENT] = fmax(sums[GRADIENT], fabs(slope));
        for (int j = 0; j < NX; j++) {
            res[GAIN][a * NX + j] = w->k[a][j];
            w->d[a][j] = w->q[a][NU + j] - rho * w->k[a][j];
            w->qz[NU + j] += change * w->d[a][j];
        }
        for (int j = NX; j < XS; j++)
            w->d[a][j] = 0.0;
    }
    write_product(NX, VECTORS(NX), 0, 1, NU, w->k[0], XS, w->d[0], XS, w->q[NU] + NU, ZS);
}

/* Write a node's step, gain, Vx and Vxx, and add to the sums; 1 where Quu + rho I is not positive definite. */
int riccati(const double **arg, double **res, long long *iw, double *scratch, int mem)
{
    Work w;
    double ahead[N], inverse[NU];
    const double rho = arg[NUMBERS][RHO];
    (void)iw, (void)scratch, (void)mem;
    stack(arg, &w);
    stack_value(arg, ahead, &w);
    add_dynamics(arg, ahead, &w);
    if (arg[NUMBERS][HAS_CONTROL] != 0.0) {
        if (factorise(rho, &w, inverse))
            return 1;
        solve(inverse, &w);
        take_step(rho, res, &w);
    } else {
        memset(res[STEP], 0, NU * sizeof(double));
        memset(res[GAIN], 0, NU * NX * sizeof(double));
    }
    for (int i = 0; i < NX; i++) {
        const double *row = w.q[NU + i] + NU;
        res[VX_HERE][i] = w.qz[NU + i];
        for (int j = i; j < NX; j++) {
            res[VXX_HERE][i * NX + j] = row[j];
            res[VXX_HERE][j * NX + i] = row[j];
        }
    }
    return 0;
}
