/* Linear algebra of a node's contact dynamics for sizes known when it is compiled: factor of K, solutions, partials, and
 * the products of the contracted second order; contact_algebra.py says what calls it, docs/mathematics.md has eqs. (3)
 * and (6).
 *
 * NJ, NU, NC: joints, controls, contact rows.
 *
 * K = [[H, -J'], [-J, 0]] = L D L' without pivoting, since H is positive definite and what is left negative definite.
 * Joints are eliminated from the last to the first, the contacts after them, so that the zeros between two legs stay
 * (Featherstone 2008, sec. 6.5) and are left out. In that order a factor holds L below its diagonal, D L' above it, and
 * 1 / D on it, 0 where a contact row depends on those before it (see linear_system.py).
 */
#define DEPENDENT 1e-10
#define NS (NJ + NC)
#define NX (2 * NJ)
#define NZ (NX + NU)
#define SS PADDED(NS)
/* Vectors of columns of a row that stay in registers at a time. */
#define CHUNK (VECTORS(NZ) < 6 ? VECTORS(NZ) : WIDTH == 8 ? 6 : 4)
#define ZS (MULTIPLE(VECTORS(NZ), CHUNK) * WIDTH)
/* Rows of a block: a leg's joints. */
#define ROWS 3

/* Place of a row of K in the order of elimination. */
ALWAYS_INLINE int place(int row) { return row < NJ ? NJ - 1 - row : row; }

static inline void solve_one(const double *factor, double *b)
{
    double x[NS];
    for (int i = 0; i < NS; i++)
        x[place(i)] = b[i];
    for (int j = 0; j < NS; j++) {
        const double *row = factor + j * NS, scaled = x[j] * row[j];
        for (int i = j + 1; i < NS; i++)
            x[i] -= row[i] * scaled;
        x[j] = scaled;
    }
    for (int j = NS - 1; j > 0; j--) {
        const double *row = factor + j * NS, known = x[j];
        for (int i = 0; i < j; i++)
            x[i] -= row[i] * known;
    }
    for (int i = 0; i < NS; i++)
        b[i] = x[place(i)];
}

/* () -> K, which its factor takes the place of; b, which the solution does. */
int factorise(const double **arg, double **res, long long *iw, double *scratch, int mem)
{
    double u[NS][SS] ALIGNED, *k = res[0];
    (void)arg, (void)iw, (void)scratch, (void)mem;
    for (int i = 0; i < NS; i++)
        for (int j = 0; j < SS; j++)
            u[place(i)][j < NS ? place(j) : j] = j < NS ? k[i * NS + j] : 0.0;
    double least = 0.0;
    for (int j = 0; j < NS; j++) {
        if (j == NJ)
            for (int i = NJ; i < NS; i++)
                least = fmax(least, DEPENDENT * fabs(u[i][i]));
        const double inverse = j >= NJ && fabs(u[j][j]) <= least ? 0.0 : 1.0 / u[j][j];
        for (int i = j + 1; i < NS; i++) {
            if (u[j][i] == 0.0) {
                k[i * NS + j] = 0.0;
                continue;
            }
            const double share = u[j][i] * inverse;
            k[i * NS + j] = share;
            /* What is left of the diagonal is never read. */
            for (int p = i / WIDTH; p < VECTORS(NS); p++)
                store(u[i] + p * WIDTH, load(u[i] + p * WIDTH) - share * load(u[j] + p * WIDTH));
        }
        k[j * NS + j] = inverse;
        for (int i = j + 1; i < NS; i++)
            k[j * NS + i] = u[j][i];
    }
    solve_one(k, res[1]);
    return 0;
}

/* factor -> b, which the solution takes the place of. */
int solve(const double **arg, double **res, long long *iw, double *scratch, int mem)
{
    (void)iw, (void)scratch, (void)mem;
    solve_one(arg[0], res[0]);
    return 0;
}

/* Take `factor` times row p out of a chunk of a row. */
ALWAYS_INLINE void subtract(double factor, const double *other, vec *row)
{
    UNROLLED for (int j = 0; j < CHUNK; j++)
        row[j] -= factor * load(other + j * WIDTH);
}

static inline void solve_rows(const double *factor, double (*b)[ZS])
{
    for (int c = 0; c < ZS; c += CHUNK * WIDTH) {
        for (int i = 0; i < NS; i++) {
            vec row[CHUNK];
            UNROLLED for (int j = 0; j < CHUNK; j++)
                row[j] = load(b[i] + c + j * WIDTH);
            for (int p = 0; p < i; p++)
                if (factor[i * NS + p] != 0.0)
                    subtract(factor[i * NS + p], b[p] + c, row);
            UNROLLED for (int j = 0; j < CHUNK; j++)
                store(b[i] + c + j * WIDTH, row[j]);
        }
        for (int i = NS - 1; i >= 0; i--) {
            const double inverse = factor[i * NS + i];
            vec row[CHUNK];
            UNROLLED for (int j = 0; j < CHUNK; j++)
                row[j] = inverse * load(b[i] + c + j * WIDTH);
            for (int p = i + 1; p < NS; p++)
                if (factor[p * NS + i] != 0.0)
                    subtract(factor[p * NS + i], b[p] + c, row);
            UNROLLED for (int j = 0; j < CHUNK; j++)
                store(b[i] + c + j * WIDTH, row[j]);
        }
    }
}

/* nu_z = -K^-1 [r_q r_v -S'], of r_z by columns; where `free`, nothing is actuated. */
ALWAYS_INLINE void write_partials(const int free, const double **arg, double *nu_z)
{
    double b[NS][ZS] ALIGNED;
    const long long *actuated = (const long long *)arg[2];
    transpose(NX, NJ, arg[1], NS, b[NJ - 1], -ZS);
    transpose(NX, NC, arg[1] + NJ, NS, b[NJ], ZS);
    for (int i = 0; i < NS; i++)
        for (int j = NX; j < ZS; j++)
            b[i][j] = 0.0;
    for (int a = 0; a < NU && !free; a++)
        b[place((int)actuated[a])][NX + a] = -1.0;
    solve_rows(arg[0], b);
    for (int i = 0; i < NS; i++)
        for (int j = 0; j < NZ; j++)
            nu_z[i * NZ + j] = -b[place(i)][j];
}

/* factor, [r_q r_v] by columns, indices of the actuated joints -> nu_z */
int contact_partials(const double **arg, double **res, long long *iw, double *scratch, int mem)
{
    (void)iw, (void)scratch, (void)mem;
    write_partials(0, arg, res[0]);
    return 0;
}

int impact_partials(const double **arg, double **res, long long *iw, double *scratch, int mem)
{
    (void)iw, (void)scratch, (void)mem;
    write_partials(1, arg, res[0]);
    return 0;
}

/* Write s_q,nu nu_z into t, joints by threes: rows that all three of a block do not need are left out. */
static inline void write_through(const double *s_nuq, const double *nu_z, double (*t)[ZS])
{
    double z[NS][ZS] ALIGNED;
    for (int i = 0; i < NS; i++) {
        memcpy(z[i], nu_z + i * NZ, NZ * sizeof(double));
        for (int j = NZ; j < ZS; j++)
            z[i][j] = 0.0;
    }
    for (int i = 0; i < NJ; i += ROWS) {
        const int left = NJ - i;
        for (int c = 0; c < ZS; c += CHUNK * WIDTH) {
            vec sum[ROWS][CHUNK];
            UNROLLED for (int r = 0; r < ROWS; r++)
                UNROLLED for (int j = 0; j < CHUNK; j++)
                    sum[r][j] = (vec){0.0};
            for (int p = 0; p < NS; p++) {
                const double *a = s_nuq + p * NJ + i;
                const double a0 = a[0], a1 = left > 1 ? a[1] : 0.0, a2 = left > 2 ? a[2] : 0.0;
                if (a0 == 0.0 && a1 == 0.0 && a2 == 0.0)
                    continue;
                UNROLLED for (int j = 0; j < CHUNK; j++) {
                    const vec row = load(z[p] + c + j * WIDTH);
                    sum[0][j] += a0 * row;
                    sum[1][j] += a1 * row;
                    sum[2][j] += a2 * row;
                }
            }
            UNROLLED for (int r = 0; r < ROWS; r++)
                UNROLLED for (int j = 0; j < CHUNK; j++)
                    store(t[i + r] + c + j * WIDTH, sum[r][j]);
        }
    }
}

/* s_qq, s_vq by columns, s_vv, s_q,nu by columns, nu_z -> gamma'nu_xx, gamma'nu_ux */
int curvature(const double **arg, double **res, long long *iw, double *scratch, int mem)
{
    double t[MULTIPLE(NJ, ROWS)][ZS] ALIGNED, across[NJ][NJ];
    double *hxx = res[0], *hux = res[1];
    (void)iw, (void)scratch, (void)mem;
    write_through(arg[3], arg[4], t);
    transpose(NJ, NJ, t[0], ZS, across[0], NJ);
    for (int i = 0; i < NJ; i++) {
        const double *s_qq = arg[0] + i * NJ, *s_qv = arg[1] + i * NJ, *s_vv = arg[2] + i * NJ;
        double *upper = hxx + i * NX, *lower = hxx + (NJ + i) * NX;
        for (int j = 0; j < NJ; j++)
            upper[j] = s_qq[j] + (t[i][j] + across[i][j]);
        for (int j = 0; j < NJ; j++)
            upper[NJ + j] = s_qv[j] + t[i][NJ + j];
        for (int j = 0; j < NJ; j++)
            lower[NJ + j] = s_vv[j];
    }
    transpose(NJ, NJ, hxx + NJ, NX, hxx + NJ * NX, NX);
    transpose(NJ, NU, t[0] + NX, ZS, hux, NX);
    for (int a = 0; a < NU; a++)
        memset(hux + a * NX + NJ, 0, NJ * sizeof(double));
    return 0;
}
