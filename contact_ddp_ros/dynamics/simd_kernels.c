/* Numbers of all limbs in the lanes of vectors, and back in the arrays of the whole robot; lanes.py says what calls it.
 *
 * LIMBS, TRUNK, LIMB, AXES: limbs, joints of the trunk and of a limb, contact rows of a foot. N_P, GROUND: numbers of p
 * before the grounds, and of a foot's ground; PAYLOAD: where in p the payload's mass is. `joint`: the first of each
 * limb's joints in the whole robot, whose first joints are the trunk's; `ground`: the first number of its foot's in p.
 * `contact`, of a mode: the first row of each limb's foot, -1 where it is not in contact; its forces are zero then, and
 * its rows are not written. Rows of a part are those of the trunk, of the limb and of its foot.
 */
#define JOINTS (TRUNK + LIMB)
#define ROWS (JOINTS + AXES)
#define LONGEST MULTIPLE(ROWS, 4)

ALWAYS_INLINE lane in_lanes(const double *x, const int *first, int i)
{
    lane y = {0.0};
    UNROLLED for (int l = 0; l < LIMBS; l++)
        if (first[l] >= 0)
            y[l] = x[first[l] + i];
    return y;
}

ALWAYS_INLINE void gather(const double *x, const int rows, const int *contact, lane *y)
{
    for (int i = 0; i < TRUNK; i++)
        y[i] = (lane){0.0} + x[i];
    for (int i = 0; i < LIMB; i++)
        y[TRUNK + i] = in_lanes(x, joint, i);
    for (int i = 0; i < rows - JOINTS; i++)
        y[JOINTS + i] = in_lanes(x, contact, i);
}

ALWAYS_INLINE void gather_parameters(const double *p, lane *y)
{
    for (int i = 0; i < N_P; i++)
        y[i] = (lane){0.0} + p[i];
    y[PAYLOAD] /= (double)LIMBS;
    for (int i = 0; i < GROUND; i++)
        y[N_P + i] = in_lanes(p, ground, i);
}

/* Write those rows of a part's column into the whole's that are not the trunk's. */
ALWAYS_INLINE void scatter_own(const double *from, const int rows, int l, const int *contact, double *column)
{
    memcpy(column + joint[l], from + TRUNK, LIMB * sizeof(double));
    if (rows > JOINTS && contact[l] >= 0)
        memcpy(column + contact[l], from + JOINTS, AXES * sizeof(double));
}

/* Write a matrix of the whole, columns `stride` apart: of the trunk what all say, else what each says of its own. */
ALWAYS_INLINE void scatter(const lane *from, const int rows, const int columns, const int *contact, double *to,
                           const int stride, const int size)
{
    memset(to, 0, size * sizeof(double));
    for (int j = 0; j < columns; j++, from += rows) {
        double of_limb[LIMBS][LONGEST] ALIGNED;
        transpose(rows, LIMBS, (const double *)from, LIMBS, of_limb[0], LONGEST);
        if (j < TRUNK) {
            double *column = to + j * stride;
            for (int i = 0; i < TRUNK; i++) {
                double sum = of_limb[0][i];
                UNROLLED for (int l = 1; l < LIMBS; l++)
                    sum += of_limb[l][i];
                column[i] = sum;
            }
            UNROLLED for (int l = 0; l < LIMBS; l++)
                scatter_own(of_limb[l], rows, l, contact, column);
            continue;
        }
        UNROLLED for (int l = 0; l < LIMBS; l++) {
            const int first = j < JOINTS ? joint[l] - TRUNK : contact[l] - JOINTS;
            if (j >= JOINTS && contact[l] < 0)
                continue;
            double *column = to + (first + j) * stride;
            memcpy(column, of_limb[l], TRUNK * sizeof(double));
            scatter_own(of_limb[l], rows, l, contact, column);
        }
    }
}
