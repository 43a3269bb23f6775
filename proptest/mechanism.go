package proptest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
)

// Mechanism is something that looks at records and releases numbers.
type Mechanism interface {
	// Claim is the price of one release, with the adjacency it is stated under.
	Claim() accountant.Event
	// Release makes count independent releases on the records, each a vector of
	// one length. All randomness derives from the seed.
	Release(records curator.Records, seed uint64, count int) ([][]float64, error)
}

// Additive is a Mechanism that adds noise to a query, where the noise depends on
// the seed alone. Two data sets with one seed then differ by what the query
// does, which is an exact test of its sensitivity.
type Additive interface {
	Mechanism
	// Sensitivity is the largest Euclidean distance between the releases on two
	// neighbouring data sets with one seed.
	Sensitivity() float64
	// Step is the spacing of the grid that releases lie on; 0 for none.
	Step() float64
}

// MechanismOptions says on which data sets a mechanism is checked, and how long.
type MechanismOptions struct {
	// A and B are neighbouring data sets under the claim's adjacency: the same
	// but for one row (substitution), or B without one of A's rows (add/remove). The check is
	// as good as the pair is extreme. Other neighbours are looked for where that row is the
	// first. Required.
	A, B curator.Records
	// Delta is the δ at which the claim's ε is compared. Required.
	Delta float64
	// Effort is Quick, Standard or Thorough. Defaults to Standard.
	Effort Effort
	// Releases is the number of releases on each data set. Defaults to a million
	// times Effort.
	Releases int
	// Statistic turns a release into the number whose tails are compared.
	// Defaults to the projection on the difference of means, estimated from the
	// first half of the releases.
	Statistic func(release []float64) float64
	// FalseAlarm bounds the probability of rejecting a mechanism whose claim is
	// true. Defaults to 1e-6.
	FalseAlarm float64
	// Seed starts the releases' randomness. Defaults to 1.
	Seed uint64
	// Limit is how long one call of Release may take. Defaults to a minute.
	Limit time.Duration

	place int   // of the row in which A and B differ
	price price // of the claim
}

// CheckMechanism holds what a mechanism does to what it claims to cost, and
// returns the strongest evidence against the claim:
//
//   - A and B are neighbours under the claim's adjacency;
//   - no record stops it: NaN, ±Inf and huge values in every column, and in all records, give
//     releases of the same length; it leaves records and its claim as they are; one seed gives the
//     same releases, another seed others, whichever bit they differ in;
//   - for an Additive mechanism, replacing a record by any other (numbers of every size, NaN and
//     ±Inf, in every column and place, from A's record and from the one that is farthest from it)
//     moves a release by at most Sensitivity, and by whole steps of the grid, on the way from one
//     table of many records to another, and at some places of one of 10 010, too; and the releases
//     of one seed on A and on B differ by the same amount, in every release: exact;
//   - for an Additive mechanism whose claim is one Gaussian or Laplace event, its noise is that
//     event's: not smaller, of the right body and tails, level in no layer, without atoms, on all of its grid down to
//     the low bits, independent between coordinates;
//   - releases are independent of each other and alike from first to last, within a call, in calls
//     for one release or a few, and across calls of other seeds, such as the next; sums of many in a
//     row are as large as those of as many far apart;
//   - two worlds: a classifier orders releases by their likelihood ratio, by the statistic, a
//     linear function, coordinates alone, in pairs and all together, low bits and single values,
//     on one part of the releases; on the other, Clopper–Pearson bounds are compared with the
//     claim's δ(ε) at eighteen ε, its ε at Delta and its Rényi curve. Up to 16 sets that look
//     like violations are followed over up to 32 times as many fresh releases, fewer of many
//     numbers, with Quick over twice as many;
//   - with fewer releases the same is asked of A with another first record, plain or of NaN, ±Inf or
//     10³⁰⁰, or with such a response, of A and B with such values in all other records, of both at
//     other scales, of fewer records, of more that are alike, of the tables whose releases
//     spread least, with the record that differs at other places, and of those of 240 random
//     neighbours that a few releases tell apart most; with as many, of neighbours that a search
//     finds farther apart in terms of the noise.
//
// A true claim is rejected with probability at most FalseAlarm. A failure of releases
// is repeated with as few of them, and as plain records, as still fail.
func CheckMechanism(t rapid.TB, m Mechanism, o MechanismOptions) Audit {
	t.Helper()
	o.Effort = orDefault(o.Effort, Standard)
	o.FalseAlarm = orDefault(o.FalseAlarm, 1e-6)
	o.Seed = orDefault(o.Seed, 1)
	o.Limit = orDefault(o.Limit, time.Minute)
	var audit Audit
	watched(t, o.Limit, fmt.Sprintf("Seed %d", o.Seed), func(t rapid.TB, w *watch) {
		t.Helper()
		made := 0
		audit = checkMechanism(t, w.counted(m, &made), o, &made)
	})
	return audit
}

// checkMechanism counts the releases that are made.
func checkMechanism(t rapid.TB, m Mechanism, o MechanismOptions, made *int) Audit {
	t.Helper()
	var err error
	if o.place, err = neighbours(o.A, o.B, m.Claim().Adjacency()); err != nil {
		failf(t, "%v", err)
		return Audit{}
	}
	if o.price, err = priceOf(m.Claim(), o.Delta); err != nil {
		failf(t, "%v", err)
		return Audit{}
	}
	if a, ok := m.(Additive); ok {
		checkSensitivity(t, a, o)
	}
	checkAnswers(t, m, o)
	amounts := []int{o.Releases}
	if o.Releases == 0 {
		amounts = nil
		for _, effort := range o.Effort.passes() {
			amounts = append(amounts, effort.times(1_000_000, 40_000))
		}
	}
	o.FalseAlarm /= float64(len(amounts))
	var audit Audit
	for _, o.Releases = range amounts {
		if t.Failed() {
			return Audit{}
		}
		*made = 0
		report, failed := Try(t.Name(), func(t rapid.TB) { audit = checkReleases(t, m, o) })
		if failed {
			o.FalseAlarm *= float64(len(amounts)) // as in the test that is printed
			if audit = checkReleases(t, m, o.shrunk(m, report, made)); !t.Failed() {
				t.Errorf("%s", report) // what does not come again is a failure all the same
			}
			return audit
		}
		t.Logf("%s", strings.TrimSuffix(report, "\n"))
	}
	return audit
}

// shares are the parts that statistical tests have in FalseAlarm: the noise's, its layers',
// independence's, the two bounds', the privacy curve's, divergences', suspicions', neighbours',
// and calls'.
const shares = 9

// checkReleases is the statistical part, on o.Releases of each data set.
func checkReleases(t rapid.TB, m Mechanism, o MechanismOptions) Audit {
	t.Helper()
	a, additive := m.(Additive)
	onA, onB, err := bothWorlds(m, o)
	if err != nil {
		failf(t, "%v", err)
		return Audit{}
	}
	if additive {
		checkSameNoise(t, a, onA[:min(len(onA), 50_000)], o)
		if !t.Failed() {
			checkNoise(t, a, onA, o)
		}
	}
	if !t.Failed() {
		checkIndependent(t, onA, o)
	}
	if t.Failed() {
		return Audit{}
	}
	audit, err := distinguish(m, o, onA, onB)
	if err != nil {
		failf(t, "%v", err)
		return Audit{}
	}
	if audit.Violated() {
		failf(t, "the mechanism costs more than %v (Seed %d, false-alarm rate %g):%s%s", m.Claim(), o.Seed, o.FalseAlarm,
			audit.violations(onA, onB), o.test())
		return audit
	}
	t.Logf("proptest: %v", audit)
	checkCalls(t, m, onA, o)
	if !t.Failed() && o.place == 0 {
		checkNeighbours(t, m, onB, o)
	}
	return audit
}

// sensitivityTest is a Go test that compares releases of one seed on two data sets.
func (o MechanismOptions) sensitivityTest(a, b curator.Records) string {
	return goTest(fmt.Sprintf("a, _ := yourMechanism.Release(%s, %d, 1)", sourceOfRecords(a), o.Seed),
		fmt.Sprintf("b, _ := yourMechanism.Release(%s, %d, 1)", sourceOfRecords(b), o.Seed),
		"square := 0.0", "for j := range a[0] {", "\tsquare += (a[0][j] - b[0][j]) * (a[0][j] - b[0][j])", "}",
		"if got := math.Sqrt(square); !(got <= yourMechanism.Sensitivity()) {",
		"\tt.Error(got, yourMechanism.Sensitivity())", "}")
}

// checkAnswers expects releases of one length for any record, decided by the seed.
func checkAnswers(t rapid.TB, m Mechanism, o MechanismOptions) {
	t.Helper()
	p := o.A.Features
	plain, err := releases(m, o.A, o.Seed, 1)
	if err != nil {
		failf(t, "%v", err)
		return
	}
	width := len(plain[0])
	for j := range p + 1 {
		for _, v := range extremes {
			r := edited(o.A, func(x, y []float64) {
				if j < p {
					x[j] = v
				} else if y != nil {
					y[0] = v
				}
			})
			if j == p && r.Y == nil {
				break
			}
			if said := answers(m, r, o.Seed, width); said != "" {
				failf(t, "%s on data whose first record is %s; records change nothing but releases (Seed %d)", said,
					row(r, 0), o.Seed)
				return
			}
		}
	}
	for _, v := range extremes {
		r := filled(o.A, 0, v)
		if said := answers(m, r, o.Seed, width); said != "" {
			failf(t, "%s where all records are %s; records change nothing but releases (Seed %d)", said, row(r, 0), o.Seed)
			return
		}
	}
	const few = 100
	one, err1 := m.Release(o.A, o.Seed, few)
	two, err2 := m.Release(o.A, o.Seed, few)
	three, err3 := m.Release(o.A, o.Seed+1, few)
	if err1 != nil || err2 != nil || err3 != nil || len(one) != few || len(two) != few || len(three) != few {
		return // said when all releases are made
	}
	alike := func(a, b []float64) bool { return slices.EqualFunc(a, b, same) }
	if !slices.EqualFunc(one, two, alike) {
		failf(t, "the releases of Seed %d differ when they are made again; all randomness must derive from the seed", o.Seed)
	}
	if varied := slices.ContainsFunc(one, func(r []float64) bool { return !alike(r, one[0]) }); varied &&
		slices.EqualFunc(one, three, alike) {
		failf(t, "the releases of Seed %d and Seed %d are the same: the noise does not depend on the seed", o.Seed, o.Seed+1)
	}
}

// filled is a data set whose records from the given one on are one number everywhere.
func filled(r curator.Records, from int, v float64) curator.Records {
	return edited(r, func(x, y []float64) {
		fill(x[from*r.Features:], v)
		if y != nil {
			fill(y[from:], v)
		}
	})
}

// answers says why a release fails, or what it changes beside.
func answers(m Mechanism, r curator.Records, seed uint64, width int) (said string) {
	defer func() {
		if p := recover(); p != nil {
			said = fmt.Sprintf("the mechanism panics (%v)", p)
		}
	}()
	given, claim := edited(r, func(_, _ []float64) {}), m.Claim()
	all, err := m.Release(r, seed, 1)
	switch {
	case err != nil:
		return fmt.Sprintf("the mechanism fails (%v)", err)
	case len(all) != 1 || len(all[0]) != width:
		return fmt.Sprintf("the mechanism releases %v, and %d numbers on A: the length of a release tells records apart", all,
			width)
	}
	if !slices.EqualFunc(r.X, given.X, same) || !slices.EqualFunc(r.Y, given.Y, same) {
		return "the mechanism writes to its records"
	}
	if now := m.Claim(); !now.Equal(claim) || now.Adjacency() != claim.Adjacency() {
		return fmt.Sprintf("the claim changes from %v to %v", claim, now)
	}
	return ""
}

// bothWorlds makes the releases on A and B, from different seeds.
func bothWorlds(m Mechanism, o MechanismOptions) (onA, onB [][]float64, err error) {
	if onA, err = releases(m, o.A, o.Seed, o.Releases); err != nil {
		return nil, nil, err
	}
	if onB, err = releases(m, o.B, o.Seed+1, o.Releases); err != nil {
		return nil, nil, err
	}
	width := len(onA[0])
	for _, all := range [][][]float64{onA, onB} {
		for _, r := range all {
			if len(r) != width || width == 0 {
				return nil, nil, fmt.Errorf("releases of %d and of %d numbers; each is a vector of one length", width, len(r))
			}
		}
	}
	return onA, onB, nil
}

// neighbours checks that two data sets are what they are said to be, and returns the place of the
// row that one has and the other has not.
func neighbours(a, b curator.Records, adj accountant.Adjacency) (place int, err error) {
	p := a.Features
	if p == 0 && a.Y != nil {
		return 0, fmt.Errorf("the records of A are responses alone: give them as a feature, and let the mechanism read it")
	}
	if p < 1 || b.Features != p || len(a.X) < p || (a.Y == nil) != (b.Y == nil) {
		return 0, fmt.Errorf("the data sets A and B have different columns, or no record")
	}
	n, gone := len(a.X)/p, 0
	if adj == accountant.AddRemove {
		gone = 1
	}
	if len(a.X) != len(b.X)+gone*p {
		return 0, fmt.Errorf("A has %d rows and B %d: no neighbours under %v adjacency", n, len(b.X)/p, adj)
	}
	alike := func(i, j int) bool {
		return slices.EqualFunc(a.X[i*p:(i+1)*p], b.X[j*p:(j+1)*p], same) && (a.Y == nil || same(a.Y[i], b.Y[j]))
	}
	from := func(place int) bool { // whether what follows a place is alike
		for i := place + 1; i < n; i++ {
			if !alike(i, i-gone) {
				return false
			}
		}
		return true
	}
	for !from(place) {
		if place >= n-gone || !alike(place, place) {
			return 0, fmt.Errorf("A and B differ in more than one row")
		}
		place++
	}
	return place, nil
}

// differing is the first row in which two tables differ.
func differing(a, b curator.Records) int {
	for i := range len(b.X) / b.Features {
		if row(a, i) != row(b, i) {
			return i
		}
	}
	return 0
}

// row writes one row of a table.
func row(r curator.Records, i int) string {
	s := "x = " + text(r.X[i*r.Features:(i+1)*r.Features])
	if r.Y != nil {
		s += fmt.Sprintf(", y = %v", r.Y[i])
	}
	return s
}
