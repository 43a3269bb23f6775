package accept

// Proof: docs/proofs/acceptance.md.

import "fmt"

// FixedVariance returns the unbiased estimate of the variance, over batches of
// size b drawn without replacement from n records, of the sum of the batch's
// contributions x_i = (n/b)·τr_i:
//
//	v = (1 − b/n)·b/(b−1)·Σ(x_i − x̄)²,
//
// from the batch's sum and sum of squares; 0 for b = 1, which has no estimate. The
// published v = N²τ²s²/b is Σ(x_i − x̄)²: the two other factors matter when the
// batch is small or a large part of the data. It panics unless 1 ≤ b ≤ n.
func FixedVariance(n, b int, sum, squares float64) float64 {
	if !(b >= 1 && b <= n) {
		panic(fmt.Sprintf("accept: the variance of a batch of %d records out of %d was asked for", b, n))
	}
	if b == 1 {
		return 0
	}
	size := float64(b)
	spread := max(0, squares-float64(sum*sum)/size)
	return spread * (size / (size - 1)) * (float64(n-b) / float64(n))
}

// PoissonVariance returns the unbiased estimate (1−q)·Σx_i² of the variance, over
// Poisson batches of rate q, of the sum of the batch's contributions x_i = τr_i/q,
// from its sum of squares. It panics unless 0 < q ≤ 1.
func PoissonVariance(q, squares float64) float64 {
	if !(q > 0 && q <= 1) {
		panic(fmt.Sprintf("accept: a variance at the Poisson rate %v was asked for", q))
	}
	return (1 - q) * squares
}
