package accept

import (
	"fmt"
	"math"
)

// roundingRange is what the rounding of two tails can add to the distance of
// their log-odds: each side errs by at most RelErr/(1−½−RelErr).
const roundingRange = 4.01 * RelErr

// Range returns the log-odds range of a bit when a neighbouring data set moves the
// log-odds by at most logOdds ≥ 0 and the batch variance by at most variance ≥ 0 (0
// on the full data): a bound of |logit a(u′; v′) − logit a(u; v)|, so that the bit
// is a bounded-range mechanism of that range (theory 2.2, 2.3). Errors: an
// argument that is negative or not finite.
func Range(t Test, logOdds, variance float64) (float64, error) {
	for _, move := range [...]float64{logOdds, variance} {
		if !(move >= 0) || math.IsInf(move, 0) {
			return 0, fmt.Errorf("accept: moves of %v in log-odds and %v in variance were given; they must be finite and not "+
				"negative", logOdds, variance)
		}
	}
	perLogOdds, perVariance := t.Lipschitz()
	return (perLogOdds*logOdds+perVariance*variance)*outward + roundingRange, nil
}

// FixedRange returns the log-odds range of a bit given its batch, one of size b
// drawn without replacement from n records, when one record of the batch is
// replaced. Each record contributes at most c ≥ 0 in absolute value to the
// log-odds, so they move by at most 2c, and the batch variance of [FixedVariance]
// by at most 4c²(1−b/n). Errors: 1 ≤ b ≤ n does not hold; a c that is negative or
// not finite.
func FixedRange(t Test, n, b int, c float64) (float64, error) {
	if !(b >= 1 && b <= n) {
		return 0, fmt.Errorf("accept: batches of %d records out of %d were given; a batch has at least one and at most all",
			b, n)
	}
	// Rounding: no term of the computed variance exceeds 2bc².
	rounding := 0x1p-48 * float64(b)
	return Range(t, 2*c, (4*float64(n-b)/float64(n)+rounding)*c*c)
}

// PoissonRange returns how far the presence of one record in a Poisson batch of
// rate q moves the log-odds of a bit, either way. The record contributes at most
// c ≥ 0 in absolute value to the log-odds (its share on the full data over q), and
// so at most (1−q)c² to the batch variance of [PoissonVariance]. The result is the
// c of theory 2.6; under substitution the range given the batch is twice that.
// Errors: q outside (0, 1]; a c that is negative or not finite.
func PoissonRange(t Test, q, c float64) (float64, error) {
	if !(q > 0 && q <= 1) {
		return 0, fmt.Errorf("accept: a Poisson rate of %v was given; it must be in (0, 1]", q)
	}
	// Rounding: only variances up to the limit reach the test.
	rounding := 0x1p-50 * t.VarianceLimit()
	return Range(t, c, (1-q)*c*c+rounding)
}
