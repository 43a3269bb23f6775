package curator

// Proof: docs/proofs/penalty.md.

import (
	"fmt"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
)

// penaltyEvent prices the bit of a penalty test on the full data by the
// divergence of the bit itself, which its steepest log-odds, where it says
// little, would overstate (theory 2.4; docs/proofs/penalty.md).
func (m AcceptanceBit) penaltyEvent(f Facts, p plan) (accountant.Event, error) {
	return accountant.Bit{Contribution: room.Padded(p.contribution), Isotropic: p.averaged, Variance: m.Test.variance()}.
		Event(f.Adjacency)
}

// MoveAlong is Move for one-coordinate moves whose directions the sampler
// chooses: a move of the coordinate that is drawn goes up where direction is
// positive, and down otherwise. Lengths are drawn as for Move, and are all that
// the price rests on. Errors: those of Move; moves that are not of one
// coordinate; directions of the wrong length.
func (b *Bits) MoveAlong(next, theta, direction []float64, logRatio func(next []float64) float64) (bool, error) {
	if b.plan.mechanism.Proposal.kind() != oneComponent {
		return false, fmt.Errorf("curator: directions are for one-coordinate moves; this grant is for %v",
			b.plan.mechanism.Proposal)
	}
	if len(direction) != len(theta) {
		return false, fmt.Errorf("curator: %d directions were given for %d parameters", len(direction), len(theta))
	}
	if err := checkStates(b.plan.subject.Dim, theta, next); err != nil {
		return false, err
	}
	if err := b.room.Enter(); err != nil {
		return false, err
	}
	defer b.room.Leave()
	if err := b.room.Take(); err != nil {
		return false, err
	}
	b.plan.mechanism.Proposal.draw(b.moveStep, next, theta, fresh{b.room.Public()})
	for j, d := range direction {
		if (b.moveStep[j] > 0) != (d > 0) {
			b.moveStep[j] = -b.moveStep[j]
		}
		next[j] = theta[j] + b.moveStep[j]
	}
	b.room.Publish(next)
	return b.decide(next, theta, logRatio(next)), nil
}
